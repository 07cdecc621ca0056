/** Colours of a report; none if the output is not a terminal. */

export interface Colours {
  readonly title: (text: string) => string
  readonly strong: (text: string) => string
  readonly faint: (text: string) => string
  readonly warning: (text: string) => string
}

const plain = (text: string): string => text
const none: Colours = { title: plain, strong: plain, faint: plain, warning: plain }

export async function coloursOf(stream: { readonly isTTY?: boolean }): Promise<Colours> {
  if (!stream.isTTY) return none
  const { default: ansis } = await import('ansis')
  return {
    title: (text) => ansis.red.bold(text),
    strong: (text) => ansis.bold(text),
    faint: (text) => ansis.dim(text),
    warning: (text) => ansis.yellow(text),
  }
}
