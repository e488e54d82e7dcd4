/** Finds plates, sensors, locations, incidents and pages. */
export function Search() {
  return null;
}
