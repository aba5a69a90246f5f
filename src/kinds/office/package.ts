/** The parts of an office file: XML by name, and the relationships that lead from part to part. */

import { bomb, checkCount, damaged } from "./unreadable.ts";
import { readXml, type XmlReader } from "./xml.ts";
import { openZip, type ZipLimits } from "./zip.ts";

export interface PackageLimits extends ZipLimits {
  readonly depthMax: number;
}

export interface Relationship {
  /** The last segment of the type's URL, the same in both editions of the standard: "image", "hyperlink". */
  readonly type: string;
  readonly target: string;
  readonly external: boolean;
}

export type Relationships = ReadonlyMap<string, Relationship>;

export interface Part {
  readonly name: string;
  readonly xml: XmlReader;
  again(): XmlReader;
}

export type Package = ReturnType<typeof openPackage>;

export function openPackage(bytes: Uint8Array, limits: PackageLimits) {
  const zip = openZip(bytes, limits);
  const names = [...zip.names];

  let opened = 0;
  /** Undefined if there is no such part. A part that is opened twice is parsed twice and counts twice. */
  const open = (name: string): Part | undefined => {
    // A million relationships can lead to one part.
    opened += 1;
    if (opened > limits.entriesMax) throw bomb(`its parts refer to each other more than ${limits.entriesMax} times`);
    const content = zip.read(name);
    if (content === undefined) return undefined;
    const again = (): XmlReader => readXml(content, name, limits.depthMax);
    return { name, xml: again(), again };
  };

  return {
    open,
    count: (beginning: string) => names.filter((name) => name.startsWith(beginning)).length,
    relationships(part: string): Relationships {
      const slash = part.lastIndexOf("/") + 1;
      const folder = part.slice(0, slash);
      const found = open(`${folder}_rels/${part.slice(slash)}.rels`);
      return found === undefined ? new Map() : readRelationships(found, folder);
    },
  };
}

function readRelationships(part: Part, folder: string): Relationships {
  const relationships = new Map<string, Relationship>();
  const { xml } = part;
  for (const name of xml.opened()) {
    if (name !== "Relationship") continue;
    checkCount(relationships.size, "relationships in one part");
    const target = xml.attribute("Target") ?? "";
    const external = xml.attribute("TargetMode") === "External";
    relationships.set(xml.attribute("Id") ?? "", {
      type: (xml.attribute("Type") ?? "").replace(/^.*\//s, ""),
      target: external ? target : partName(folder, target),
      external,
    });
  }
  return relationships;
}

/** A target as the name of a part: targets are relative to the folder of their part. */
function partName(folder: string, target: string): string {
  const path: string[] = [];
  for (const step of (target.startsWith("/") ? target : folder + target).split("/")) {
    if (step === "..") path.pop();
    else if (step !== "" && step !== ".") path.push(step);
  }
  return path.join("/");
}

export function mainPart(office: Package): string {
  for (const { type, target } of office.relationships("").values()) {
    if (type === "officeDocument") return target;
  }
  throw damaged("it names no main document, so it may be another kind of zip");
}

export function openRelated(office: Package, relationships: Relationships, type: string): Part | undefined {
  for (const related of relationships.values()) {
    if (related.type === type && !related.external) return office.open(related.target);
  }
  return undefined;
}
