/** Colours. Whether there are any is decided by `coloured` alone. */

import { styleText } from "node:util";

export type Style = (format: Parameters<typeof styleText>[0], text: string) => string;

/** Node would decide again whether there is colour: by stdout, and by variables like CI. */
export const styled: Style = (format, text) => (text === "" ? "" : styleText(format, text, { validateStream: false }));
