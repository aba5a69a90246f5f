/**
 * The interface between the inspector's server and its page: JSON over HTTP, and one stream of events. Types only; the
 * page imports them and nothing else from here. Where there is nothing, it is `null`; new fields may come at any time.
 *
 * All addresses begin with `/api/`. What belongs to one workspace begins with `/api/w/<name>/`, names as in `Hello`.
 * Every request but the exchange needs the cookie, and the header `Filehand-Page` with the key that the exchange gave.
 * Requests with a body are POST with `Content-Type: application/json`, also those that change nothing: paths of files may
 * hold anything, and a body needs no escapes that could be got wrong.
 *
 * Times are milliseconds since 1970 by the server's clock (`Hello.nowMs` tells the difference), paths have forward
 * slashes and are below their root where they are called `relative`.
 */

export type * from "./inspector/calls.ts";
export type * from "./inspector/diffs.ts";
export type * from "./inspector/entrance.ts";
export type * from "./inspector/figures.ts";
export type * from "./inspector/files.ts";
export type * from "./inspector/history.ts";
export type * from "./inspector/questions.ts";
export type * from "./inspector/stream.ts";
