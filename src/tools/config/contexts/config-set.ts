/** Several kubeconfigs as one set; the first file that has an entry wins. Does not read or write files. */

import type { EntryKind } from '../../../kubeconfig/kubeconfig-file.ts'
import type { ConfigDocument, ConfigEntry } from '../documents/config-document.ts'

export interface DocumentOfFile {
  readonly file: string
  readonly document: ConfigDocument
}

export class ConfigSet {
  /** The previous current context, for `use -`. */
  previousContext: string | undefined
  readonly #documents: readonly DocumentOfFile[]
  readonly #target: DocumentOfFile

  /** `target` is the file for new entries. */
  constructor(documents: readonly DocumentOfFile[], target: string, previousContext?: string) {
    this.#documents = documents
    this.#target = documents.find(({ file }) => file === target)!
    this.previousContext = previousContext
  }

  get currentContext(): string | undefined {
    return this.#documents.map(({ document }) => document.currentContext).find(Boolean)
  }

  /** As kubectl: writes a name to the target; undefined clears it in the file that has it. */
  set currentContext(name: string | undefined) {
    const owner = name ? this.#target : this.#documents.find(({ document }) => document.currentContext)
    if (owner) owner.document.currentContext = name
  }

  /** The distinct names of all entries of a kind. */
  names(kind: EntryKind): string[] {
    return [...new Set(this.#documents.flatMap(({ document }) => document.names(kind)))]
  }

  has(kind: EntryKind, name: string): boolean {
    return this.origin(kind, name) !== undefined
  }

  /** The file with the effective entry. */
  origin(kind: EntryKind, name: string): DocumentOfFile | undefined {
    return this.#documents.find(({ document }) => document.has(kind, name))
  }

  /** A text field of the effective entry. */
  text(kind: EntryKind, name: string, field: string): string | undefined {
    return this.origin(kind, name)?.document.text(kind, name, field)
  }

  /** The effective entry. */
  entry(kind: EntryKind, name: string): ConfigEntry | undefined {
    return this.origin(kind, name)?.document.copyOf(kind, name)
  }

  /** Replaces the entry with that name, else adds it to the target. */
  put(entry: ConfigEntry): void {
    const { document } = this.origin(entry.kind, entry.name) ?? this.#target
    document.put(entry)
  }

  /** Removes the effective entry from its file. */
  remove(kind: EntryKind, name: string): void {
    this.origin(kind, name)?.document.remove(kind, name)
  }

  /** The names of all contexts that use this cluster or user. */
  contextsWith(kind: 'cluster' | 'user', name: string): string[] {
    return this.names('context').filter((context) => this.text('context', context, kind) === name)
  }
}
