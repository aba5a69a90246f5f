/** Text files are bundled as strings, and so are the programs of worker threads (scripts/text-files.js). */
declare module "*.txt" {
  const text: string;
  export default text;
}
declare module "*?program" {
  const program: string;
  export default program;
}
