/** Types that can only be made where a value was checked. */

declare const brand: unique symbol;

export type Brand<Value, Name extends string> = Value & { readonly [brand]: Name };

/** A line's number. Inside Filehand the first line is 1, always. */
export type LineNumber = Brand<number, "LineNumber">;

/** The only maker of line numbers: callers have checked that `value` is a whole number of at least 1. */
export const lineNumber = (value: number): LineNumber => value as LineNumber;

/** An absolute path with every link resolved, spelled as the file system has it. Made only in `disk/`. */
export type RealPath = Brand<string, "RealPath">;
