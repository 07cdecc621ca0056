/**
 * The sources of a program in a folder: the file of a frame, the function at its line, and the types of its package.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Frame } from '../dump/frame.ts'
import { fieldAt } from './memory.ts'
import { parseSourceFile, type SourceFile, type SourceFunction } from './source-file.ts'
import type { Field, GoType, Signature } from './types.ts'

/** Maximum number of files that are read of a package. */
const maxFiles = 200
/** Maximum nesting of named types, since a type may contain itself by mistake. */
const maxDepth = 12

export interface SourceLine {
  readonly number: number
  readonly text: string
}

export class Sources {
  readonly #folder: string
  readonly #files = new Map<string, { readonly text: string; readonly parsed: SourceFile } | undefined>()
  readonly #types = new Map<string, ReadonlyMap<string, GoType>>()

  constructor(folder: string) {
    this.#folder = folder
  }

  /**
   * Returns the signature of a frame's function, with named types of its package resolved; undefined if the sources do
   * not contain it.
   */
  signature(frame: Frame): Signature | undefined {
    const path = this.#path(frame)
    const found = path && this.#function(path, frame)
    if (!found) return undefined
    const { name, receiver, parameters, results } = found.signature
    const resolved = (field: Field): Field => ({ name: field.name, type: this.#resolve(field.type, dirname(path), 0) })
    return {
      name,
      ...(receiver && { receiver: resolved(receiver) }),
      parameters: parameters.map(resolved),
      results: results.map(resolved),
    }
  }

  /** Returns the line of a frame with `around` lines before and after it. */
  excerpt(frame: Frame, around = 2): readonly SourceLine[] {
    const path = this.#path(frame)
    if (!path || !this.#function(path, frame)) return []
    const lines = this.#read(path)?.text.split('\n') ?? []
    const from = Math.max(1, frame.line - around)
    return lines.slice(from - 1, frame.line + around).map((text, index) => ({ number: from + index, text }))
  }

  /**
   * Returns the fields at an offset of the structs that the function's pointers point to, such as `Cart.total`: one of
   * them was accessed if the pointer was nil.
   */
  fieldsAt(frame: Frame, offset: number, wordBytes: number): readonly string[] {
    const path = this.#path(frame)
    const signature = this.signature(frame)
    if (!path || !signature) return []
    const pointers = [...(signature.receiver ? [signature.receiver] : []), ...signature.parameters].filter(
      ({ type }) => type.kind === 'pointer',
    )
    const names = new Set(pointers.map(({ type }) => type.text.replace(/^\*/, '')))
    return [...names].flatMap((text) => {
      const field = fieldAt(this.#resolve({ kind: 'named', text }, dirname(path), 0), offset, wordBytes)
      return field === undefined ? [] : [`${text}.${field}`]
    })
  }

  /** Returns a sentence why the sources do not contain a frame; undefined if they do. */
  missing(frame: Frame): string | undefined {
    const path = this.#path(frame)
    if (!path) return `${this.#folder} does not contain ${frame.file}: give the folder with the program's go.mod`
    return this.#function(path, frame)
      ? undefined
      : `${path} has no ${frame.function.name} at line ${frame.line}: it is another version than the program's`
  }

  /** The program may have been built in another folder: finds the longest suffix of the path that is a file. */
  #path({ file }: Frame): string | undefined {
    const parts = file.split(/[\\/]/).filter(Boolean)
    for (let from = 0; from < parts.length; from++) {
      const path = join(this.#folder, ...parts.slice(from))
      if (statSync(path, { throwIfNoEntry: false })?.isFile()) return path
    }
    return undefined
  }

  /** Returns the function that contains the frame's line; of literals the innermost. */
  #function(path: string, { function: { name, closure }, line }: Frame): SourceFunction | undefined {
    const around =
      this.#read(path)?.parsed.functions.filter(({ firstLine, lastLine }) => firstLine <= line && line <= lastLine) ??
      []
    const found = closure ? around.findLast(({ isLiteral }) => isLiteral) : around.find(({ isLiteral }) => !isLiteral)
    // Another version of the file has another function there.
    return found && (found.isLiteral || found.signature.name === name) ? found : undefined
  }

  #read(path: string): { readonly text: string; readonly parsed: SourceFile } | undefined {
    if (!this.#files.has(path)) {
      const text = readFileSync(path, 'utf8')
      this.#files.set(path, { text, parsed: parseSourceFile(text) })
    }
    return this.#files.get(path)
  }

  #resolve(type: GoType, folder: string, depth: number): GoType {
    if (depth > maxDepth) return type
    switch (type.kind) {
      case 'named': {
        const found = this.#typesOf(folder).get(type.text)
        // The name is kept as the text; the structure is that of the declaration.
        return found ? { ...this.#resolve(found, folder, depth + 1), text: type.text } : type
      }
      case 'array':
        return { ...type, element: this.#resolve(type.element, folder, depth + 1) }
      case 'struct':
        return {
          ...type,
          fields: type.fields.map((field) => ({
            name: field.name,
            type: this.#resolve(field.type, folder, depth + 1),
          })),
        }
      default:
        return type
    }
  }

  #typesOf(folder: string): ReadonlyMap<string, GoType> {
    const known = this.#types.get(folder)
    if (known) return known
    const files = readdirSync(folder).filter((name) => name.endsWith('.go') && !name.endsWith('_test.go'))
    const types = new Map(
      files.slice(0, maxFiles).flatMap((name) => [...(this.#read(join(folder, basename(name)))?.parsed.types ?? [])]),
    )
    this.#types.set(folder, types)
    return types
  }
}
