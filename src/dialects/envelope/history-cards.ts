/** The tools of the `envelope` dialect that look back and go back. */

import { historyCardsOf } from "../history-cards.ts";
import { strictly } from "../strictness.ts";
import history from "./history.txt";
import rewind from "./rewind.txt";

export const historyCards = historyCardsOf(strictly, { history, rewind }, "; relative to the project root");
