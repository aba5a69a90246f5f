/**
 * The site, made by `npm run docs` from the pages of `docs/` as they are: the folder keeps its shape, and works as pages of the repository
 * too. Nothing is loaded from another host, and the search runs in the reader's browser.
 */

import { cpSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { defineConfig } from "vitepress";
import { addressOf, parts } from "./navigation.js";

const docs = resolve(import.meta.dirname, "..");
const project = resolve(docs, "..");
const { repository } = JSON.parse(readFileSync(join(project, "package.json"), "utf8"));
const home = repository.url.replace(/^git\+/, "").replace(/\.git$/, "");

export default defineConfig({
  title: "Filehand",
  description: "The file tools that coding agents work with",
  lang: "en",
  // A project page of GitHub is below a folder; anywhere else it is the root.
  base: process.env.DOCS_BASE ?? "/",
  cacheDir: join(docs, "node_modules/.cache/vitepress"),
  rewrites: (page) => page.replace(/(^|\/)README\.md$/, "$1index.md"),
  head: [["link", { rel: "icon", href: `${process.env.DOCS_BASE ?? "/"}icon.svg` }]],
  lastUpdated: false,
  metaChunk: true,
  // The index of the search is one chunk, loaded with the first search.
  vite: { build: { chunkSizeWarningLimit: 2_000 } },
  markdown: {
    config: (markdown) => {
      markdown.core.ruler.push("links-out-of-docs", linksOutOfDocs);
    },
  },
  buildEnd: ({ outDir }) => {
    cpSync(join(project, "web/style/icon.svg"), join(outDir, "icon.svg"));
    // Runs of the bench are linked as they came.
    cpSync(join(docs, "bench"), join(outDir, "bench"), { recursive: true, filter: (from) => !from.endsWith(".md") });
  },
  themeConfig: {
    nav: parts.map(({ text, folder, groups }) => ({
      text,
      link: addressOf(groups[0]?.entries[0]?.page ?? ""),
      activeMatch: `^/${folder}/`,
    })),
    sidebar: parts.map(({ text, groups }) => ({
      text,
      collapsed: false,
      items:
        groups.length === 1
          ? links(groups[0])
          : groups.map((group) => ({ text: group.text, collapsed: true, items: links(group) })),
    })),
    search: { provider: "local", options: { miniSearch: { searchOptions: { fuzzy: 0.2, prefix: true } } } },
    socialLinks: [{ icon: "github", link: home }],
    outline: { level: [2, 3] },
    docFooter: { prev: false, next: false },
    externalLinkIcon: true,
  },
});

function links(group) {
  return group.entries.map(({ text, page }) => ({ text, link: addressOf(page) }));
}

/** A link to a file of the repository that is not a page leads to the repository; one to a folder of pages, to its first. */
function linksOutOfDocs({ tokens, env }) {
  for (const { children } of tokens) {
    for (const token of children ?? []) {
      const to = token.type === "link_open" ? token.attrGet("href") : null;
      if (to === null || /^(?:\w+:|#|\/)/.test(to)) continue;
      const [path, anchor] = to.split("#");
      const target = resolve(dirname(env.realPath ?? env.path), path);
      const outside = relative(docs, target).startsWith("..");
      const isPage = /\.(?:md|txt|json|svg|png)$/.test(target);
      if (!outside && isPage) continue;
      token.attrSet(
        "href",
        `${home}/blob/main/${relative(project, target)}${anchor === undefined ? "" : `#${anchor}`}`,
      );
      token.attrSet("target", "_blank");
      token.attrSet("rel", "noreferrer");
    }
  }
}
