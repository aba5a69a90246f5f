import { expect, test } from "vitest";
import { heightsOf, layersOf, sumOf } from "./series.ts";

const rest = (names: number): string => `${names} others`;

test("layers stand on each other, and the others are the highest one", () => {
  const layers = layersOf(
    {
      layers: [
        { name: "a", values: [1, 2] },
        { name: "b", values: [3, 0] },
      ],
      others: { names: 7, values: [1, 1] },
    },
    rest,
  );
  expect(layers).toEqual([
    { name: "a", isRest: false, values: [1, 2], base: [0, 0] },
    { name: "b", isRest: false, values: [3, 0], base: [1, 2] },
    { name: "7 others", isRest: true, values: [1, 1], base: [4, 2] },
  ]);
  expect(heightsOf(layers)).toEqual([5, 3]);
});

test("nothing has no layers and no height", () => {
  const layers = layersOf({ layers: [], others: null }, rest);
  expect([layers, heightsOf(layers), sumOf(heightsOf(layers))]).toEqual([[], [], 0]);
});
