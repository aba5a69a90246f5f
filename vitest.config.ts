import { defineConfig } from "vitest/config";
import { textFiles } from "./scripts/text-files.js";

export default defineConfig({
  plugins: [textFiles()],
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    testTimeout: 180_000,
    hookTimeout: 300_000,
    reporters: ["default", "./scripts/closing-line.js"],
  },
});
