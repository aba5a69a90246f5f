/** The tools of the `envelope` dialect that look for files by their names. */

import { searchCardsOf } from "../search-cards.ts";
import glob from "./glob.txt";
import ls from "./ls.txt";

export const searchCards = searchCardsOf(
  { glob, ls },
  {
    globPath: { description: "Folder to search, relative to the project root; the whole project by default" },
    lsPath: { description: "Path of the folder, relative to the project root" },
    lsOffset: { description: "First entry of the folder to list, counted from 1", default: 1 },
  },
);
