/** Surrogates that are no half of a pair: what a call must not hold, and what stands for bytes that do not decode. */

const lone = /(?<![\ud800-\udbff])[\udc00-\udfff]|[\ud800-\udbff](?![\udc00-\udfff])/;
const allLone = new RegExp(lone, "g");

/** V8 knows of most texts, without looking, that they hold no surrogate. */
const hasSurrogate = (text: string): boolean => /[\ud800-\udfff]/.test(text);

export const isWellFormed = (text: string): boolean => !hasSurrogate(text) || !lone.test(text);

/** For showing: U+FFFD in their place. */
export const wellFormed = (text: string): string => (hasSurrogate(text) ? text.replace(allLone, "\ufffd") : text);
