/** Frames of a stack: two lines, the call with its words and the location. */
import { type FunctionName, functionName } from './function-name.ts'

export interface Location {
  readonly file: string
  readonly line: number
}

export interface Frame extends Location {
  readonly function: FunctionName
  /** The words between the parentheses, as printed; undefined without any (inlined, or from a log). */
  readonly words?: string
  /** True if its code is part of the caller's. */
  readonly inlined: boolean
  /** Offset of the instruction from the start of the function, in bytes. */
  readonly offset?: number
  readonly fp?: string
  readonly sp?: string
  readonly pc?: string
  /** A small number that identifies the call and its location. */
  readonly site: number
}

const locationPattern =
  /^\s+(.+?):(\d+)(?: \+0x([0-9a-f]+))?(?: fp=(0x[0-9a-f]+))?(?: sp=(0x[0-9a-f]+))?(?: pc=(0x[0-9a-f]+))?\s*$/
/** A frame of C code, for which the runtime has no lines. */
const addressPattern = /^\s+pc=(0x[0-9a-f]+)\s*$/

/** Parses frames. Caches names and locations, since large dumps repeat them. */
export class FrameMaker {
  readonly #names = new Map<string, FunctionName>()
  readonly #sites = new Map<string, number>()

  /** Parses the two lines of a frame; undefined if they are not a frame. */
  frame(call: string, place: string): Frame | undefined {
    const found = locationPattern.exec(place)
    if (!found) return this.#foreign(call, place)
    const [, file = '', line = '', offset, fp, sp, pc] = found
    // Words contain no parentheses; names may.
    const open = call.endsWith(')') ? call.lastIndexOf('(') : -1
    const full = open < 0 ? call.trim() : call.slice(0, open).trim()
    const words = open < 0 ? undefined : call.slice(open + 1, -1)
    const inlined = words === '...'
    return {
      function: this.name(full),
      file,
      line: Number(line),
      inlined,
      site: this.#site(`${full} ${file}:${line}`),
      ...(words !== undefined && !inlined && { words }),
      ...(offset && { offset: Number.parseInt(offset, 16) }),
      ...(fp && { fp }),
      ...(sp && { sp }),
      ...(pc && { pc }),
    }
  }

  name(full: string): FunctionName {
    let name = this.#names.get(full)
    if (!name) this.#names.set(full, (name = functionName(full)))
    return name
  }

  #foreign(call: string, place: string): Frame | undefined {
    const pc = addressPattern.exec(place)?.[1]
    return pc === undefined
      ? undefined
      : { function: this.name(call.trim()), file: '', line: 0, inlined: false, pc, site: this.#site(`${call} ${pc}`) }
  }

  #site(key: string): number {
    let site = this.#sites.get(key)
    if (site === undefined) this.#sites.set(key, (site = this.#sites.size))
    return site
  }
}
