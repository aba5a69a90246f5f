/**
 * An office file as its parts: XML by name, and the relationships that lead from part to part. Also where reading stops
 * to let others work: a part is parsed in slices.
 */

import { setImmediate } from "node:timers/promises";
import { readXml, type XmlReader } from "../xml.ts";
import { openZip, type ZipLimits } from "../zip.ts";
import { bomb, damaged } from "./unreadable.ts";

export interface PackageLimits extends ZipLimits {
  /** Elements within elements. */
  readonly depthMax: number;
}

export interface Relationship {
  /** The last word of its type's address, which is the same in both editions of the standard: "image", "hyperlink". */
  readonly type: string;
  /** The name of a part, or an address. */
  readonly target: string;
  readonly external: boolean;
}

export type Relationships = ReadonlyMap<string, Relationship>;

export interface Part {
  readonly name: string;
  readonly xml: XmlReader;
  /** To be awaited wherever the reader can stop; undefined while that is not due. */
  rest(): Promise<void> | undefined;
}

export interface Package {
  /** Undefined if there is no such part. A part that is opened twice is parsed, and counted, twice. */
  open(name: string): Promise<Part | undefined>;
  relationships(part: string): Promise<Relationships>;
  /** Lets others work; throws what the signal was aborted with. */
  rest(): Promise<void>;
  /** How many parts have a name with this beginning. */
  count(beginning: string): number;
}

/** Some 10 ms of work. */
const sliceChars = 262_144;

/** Throws `Unreadable`, or what the signal was aborted with. */
export function openPackage(bytes: Uint8Array, limits: PackageLimits, signal: AbortSignal): Package {
  const zip = openZip(bytes, limits);
  const names = [...zip.names];
  const rest = async (): Promise<void> => {
    await setImmediate();
    signal.throwIfAborted();
  };

  let opened = 0;
  const open = async (name: string): Promise<Part | undefined> => {
    // A million relationships can lead to one part.
    opened += 1;
    if (opened > limits.entriesMax) throw bomb(`its parts refer to each other more than ${limits.entriesMax} times`);
    await rest();
    const content = await zip.read(name);
    if (content === undefined) return undefined;
    const xml = readXml(content, name, limits.depthMax);
    let rested = 0;
    return {
      name,
      xml,
      rest() {
        if (xml.at - rested < sliceChars) return undefined;
        rested = xml.at;
        return rest();
      },
    };
  };

  return {
    open,
    rest,
    count: (beginning) => names.filter((name) => name.startsWith(beginning)).length,
    async relationships(part) {
      const slash = part.lastIndexOf("/") + 1;
      const folder = part.slice(0, slash);
      const found = await open(`${folder}_rels/${part.slice(slash)}.rels`);
      return found === undefined ? new Map() : readRelationships(found, folder);
    },
  };
}

async function readRelationships(part: Part, folder: string): Promise<Relationships> {
  const relationships = new Map<string, Relationship>();
  const { xml } = part;
  for (let event = xml.next(); event !== "end"; event = xml.next()) {
    const rest = part.rest();
    if (rest !== undefined) await rest;
    if (event !== "open" || xml.name !== "Relationship") continue;
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

/** A target as the name of a part: it is relative to the folder of the part that has it. */
function partName(folder: string, target: string): string {
  const path: string[] = [];
  for (const step of (target.startsWith("/") ? target : folder + target).split("/")) {
    if (step === "..") path.pop();
    else if (step !== "" && step !== ".") path.push(step);
  }
  return path.join("/");
}

/** The part that everything starts from: the document, workbook or presentation. */
export async function mainPart(office: Package): Promise<string> {
  for (const { type, target } of (await office.relationships("")).values()) {
    if (type === "officeDocument") return target;
  }
  throw damaged("it names no main document, so it may be another kind of zip");
}

/** The first part of a type, opened. */
export async function openRelated(
  office: Package,
  relationships: Relationships,
  type: string,
): Promise<Part | undefined> {
  for (const related of relationships.values()) {
    if (related.type === type && !related.external) return office.open(related.target);
  }
  return undefined;
}
