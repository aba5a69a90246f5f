/** Text files are bundled as strings (scripts/text-files.js). */
declare module "*.txt" {
  const text: string;
  export default text;
}
