/** Pictures (SVG) of the screen of a terminal, from its text with escape sequences for colours (ECMA-48, SGR). */
import type { TerminalSize } from './terminal.ts'

/** The colours of a terminal. */
export interface Theme {
  readonly background: string
  readonly foreground: string
  /** Black, red, green, yellow, blue, magenta, cyan, white, and the bright ones. */
  readonly colors: readonly string[]
}

export const themes = {
  dark: {
    background: '#1e1e1e',
    foreground: '#d4d4d4',
    colors: (
      '#000000 #cd3131 #0dbc79 #e5e510 #2472c8 #bc3fbc #11a8cd #e5e5e5 ' +
      '#666666 #f14c4c #23d18b #f5f543 #3b8eea #d670d6 #29b8db #ffffff'
    ).split(' '),
  },
  light: {
    background: '#ffffff',
    foreground: '#333333',
    colors: (
      '#000000 #cd3131 #00bc00 #949800 #0451a5 #bc05bc #0598bc #555555 ' +
      '#666666 #cd3131 #14ce14 #b5ba00 #0451a5 #bc05bc #0598bc #a5a5a5'
    ).split(' '),
  },
} as const satisfies Readonly<Record<string, Theme>>

interface Style {
  readonly foreground?: string
  readonly background?: string
  readonly isBold?: boolean
  readonly isFaint?: boolean
  readonly isReversed?: boolean
  readonly isUnderlined?: boolean
}

const escapeCharacter = '\x1b'
const width = 9
const height = 18
const margin = 8

/** Returns the picture of a screen. Each character takes one cell. */
export function pictureOf(screen: string, { columns, rows }: TerminalSize, theme: Theme): string {
  const size = [columns * width + 2 * margin, rows * height + 2 * margin]
  let style: Style = {}
  const shapes: string[] = []
  for (const [row, line] of screen.split('\n').slice(0, rows).entries()) {
    let column = 0
    for (const [index, part] of line.split(escapeCharacter).entries()) {
      const [sequence, numbers] = (index > 0 && /^\[([\d;]*)m/.exec(part)) || []
      if (numbers !== undefined) style = styleAfter(style, numbers.split(';').map(Number), theme)
      const text = part.slice(sequence?.length ?? 0)
      if (text === '') continue
      shapes.push(run(text, { column, row }, style, theme))
      column += [...text].length
    }
  }
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${size[0]}" height="${size[1]}" font-size="15" ` +
    `font-family="DejaVu Sans Mono, monospace"><rect width="100%" height="100%" fill="${theme.background}"/>\n` +
    `${shapes.join('')}</svg>\n`
  )
}

function run(text: string, at: { readonly column: number; readonly row: number }, style: Style, theme: Theme): string {
  const [x, y] = [margin + at.column * width, margin + at.row * height]
  const length = [...text].length * width
  const colors = [style.foreground ?? theme.foreground, style.background ?? theme.background]
  const [foreground, background] = style.isReversed ? colors.toReversed() : colors
  const attributes = [
    style.isBold && ' font-weight="bold"',
    style.isFaint && ' opacity="0.6"',
    style.isUnderlined && ' text-decoration="underline"',
  ]
  const box =
    background === theme.background
      ? ''
      : `<rect x="${x}" y="${y}" width="${length}" height="${height}" fill="${background}"/>`
  const escaped = text.replace(/&/g, '&amp;').replace(/</g, '&lt;')
  if (text.trim() === '') return box
  return (
    `${box}<text xml:space="preserve" x="${x}" y="${y + 14}" textLength="${length}" fill="${foreground}"` +
    `${attributes.filter(Boolean).join('')}>${escaped}</text>\n`
  )
}

/** Applies the numbers of a sequence. Unknown ones have no effect. */
function styleAfter(before: Style, numbers: readonly number[], theme: Theme): Style {
  let style = before
  for (let index = 0; index < numbers.length; index += 1) {
    const number = numbers[index]!
    if (number === 38 || number === 48) {
      const { color, length } = extendedColor(numbers.slice(index + 1), theme)
      style = { ...style, [number === 38 ? 'foreground' : 'background']: color }
      index += length
    } else style = number === 0 ? {} : { ...style, ...changeBy(number, theme) }
  }
  return style
}

function changeBy(number: number, { colors }: Theme): Style & Record<string, unknown> {
  if (number === 1) return { isBold: true }
  if (number === 2) return { isFaint: true }
  if (number === 22) return { isBold: false, isFaint: false }
  if (number === 4 || number === 24) return { isUnderlined: number === 4 }
  if (number === 7 || number === 27) return { isReversed: number === 7 }
  if (number === 39) return { foreground: undefined }
  if (number === 49) return { background: undefined }
  if (number >= 30 && number <= 37) return { foreground: colors[number - 30] }
  if (number >= 90 && number <= 97) return { foreground: colors[number - 82] }
  if (number >= 40 && number <= 47) return { background: colors[number - 40] }
  if (number >= 100 && number <= 107) return { background: colors[number - 92] }
  return {}
}

/** The colour after 38 or 48, and how many numbers name it: `5;N` of the palette of 256, or `2;R;G;B`. */
function extendedColor([form, ...rest]: readonly number[], { colors }: Theme) {
  if (form === 2) return { color: `rgb(${rest.slice(0, 3).join(',')})`, length: 4 }
  const [index = 0] = rest
  return { color: index < 16 ? colors[index]! : paletteColor(index), length: 2 }
}

/** A cube of 6 × 6 × 6 colours, then 24 greys. */
function paletteColor(index: number): string {
  if (index >= 232)
    return `rgb(${Array(3)
      .fill(8 + (index - 232) * 10)
      .join(',')})`
  const levels = [0, 95, 135, 175, 215, 255]
  const cube = index - 16
  return `rgb(${[Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map((level) => levels[level]).join(',')})`
}
