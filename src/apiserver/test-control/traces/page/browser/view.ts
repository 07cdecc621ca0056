/** The content of a tab. */
export interface View {
  readonly root: HTMLElement
  /** Shows what the address names, such as a request. */
  open?(parts: readonly string[]): void
}
