/** The tools of the `claude` dialect that look back and go back. */

import { historyCardsOf } from "../history-cards.ts";
import history from "./history.txt";
import rewind from "./rewind.txt";

export const historyCards = historyCardsOf({ history, rewind }, "");
