/** The tools of the `claude` dialect that look for files by their names. */

import { searchCardsOf } from "../search-cards.ts";
import glob from "./glob.txt";
import ls from "./ls.txt";

export const searchCards = searchCardsOf(
  { glob, ls },
  {
    globPath: { description: "Folder to search; the whole workspace by default" },
    lsPath: { description: "Path of the folder" },
    lsOffset: { description: "First entry of the folder to list, counted from 1, if it has more than one page" },
  },
);
