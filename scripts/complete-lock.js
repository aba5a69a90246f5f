/**
 * Adds to package-lock.json the binaries for other platforms that the registry at hand does not carry. `npm ci` refuses a
 * lock without them, and `npm install` looks for them again each time. Run it by hand after a change of dependencies.
 */

import { readFileSync, writeFileSync } from "node:fs";

/**
 * @typedef {object} Entry
 * @property {string} [version]
 * @property {boolean} [dev]
 * @property {Record<string, string>} [optionalDependencies]
 */

/** @type {{ packages: Record<string, Entry> }} */
const lock = JSON.parse(readFileSync("package-lock.json", "utf8"));
const systems = ["android", "darwin", "freebsd", "linux", "win32", "openharmony"];
const processors = ["arm64", "x64", "ia32", "arm", "ppc64", "riscv64", "s390x", "wasm32"];
let added = 0;

for (const [path, entry] of Object.entries({ ...lock.packages })) {
  for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
    const version = range.replace(/^[~^]/, "");
    const places = above(path).map((folder) => `${folder}node_modules/${name}`);
    if (places.some((place) => lock.packages[place]?.version === version)) continue;
    const taken = places.some((place) => lock.packages[place] !== undefined);
    if (taken && (path === "" || version !== range)) continue;
    lock.packages[taken ? `${path}/node_modules/${name}` : `node_modules/${name}`] = stub(
      name,
      version,
      entry.dev === true,
    );
    added += 1;
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).toSorted(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync("package-lock.json", `${JSON.stringify(lock, null, 2)}\n`);
process.stdout.write(`${added} entries added\n`);

/** The folders in which npm looks for a package that is wanted at `path`, the nearest first. @param {string} path */
function above(path) {
  const folders = [path === "" ? "" : `${path}/`];
  for (let at = path; at !== ""; ) {
    const cut = at.lastIndexOf("/node_modules/");
    at = cut === -1 ? "" : at.slice(0, cut);
    folders.push(at === "" ? "" : `${at}/`);
  }
  return folders;
}

/** What a platform's name in the package's name says. @param {string} name @param {string} version @param {boolean} dev */
function stub(name, version, dev) {
  const words = name.split(/[/-]/);
  const system = name === "fsevents" ? "darwin" : systems.find((one) => words.some((word) => word.startsWith(one)));
  const processor = processors.find((one) => words.includes(one));
  return {
    version,
    ...(processor === undefined ? {} : { cpu: [processor] }),
    ...(dev ? { dev } : {}),
    ...(name.includes("musl") ? { libc: ["musl"] } : {}),
    optional: true,
    ...(system === undefined ? {} : { os: [system] }),
  };
}
