/**
 * The kubeconfigs that count together as documents, the first to name something wins. Nothing here reads or writes
 * files.
 */
import type { ConfigDocument, ConfigEntry } from '../documents/config-document.ts'
import type { EntryKind } from '../kubeconfig-file.ts'

export interface DocumentOfFile {
  readonly file: string
  readonly document: ConfigDocument
}

export class ConfigSet {
  /** The context that was current before; what `use -` goes back to. */
  previousContext: string | undefined
  readonly #documents: readonly DocumentOfFile[]
  readonly #target: DocumentOfFile

  /** `target`: the file that new things go to. */
  constructor(documents: readonly DocumentOfFile[], target: string, previousContext?: string) {
    this.#documents = documents
    this.#target = documents.find(({ file }) => file === target)!
    this.previousContext = previousContext
  }

  get currentContext(): string | undefined {
    return this.#documents.map(({ document }) => document.currentContext).find(Boolean)
  }

  /** A name is written where new things go; none is taken out of the file that says it, as kubectl does. */
  set currentContext(name: string | undefined) {
    const where = name ? this.#target : this.#documents.find(({ document }) => document.currentContext)
    if (where) where.document.currentContext = name
  }

  /** The names of all entries of that kind, each once. */
  names(kind: EntryKind): string[] {
    return [...new Set(this.#documents.flatMap(({ document }) => document.names(kind)))]
  }

  has(kind: EntryKind, name: string): boolean {
    return this.origin(kind, name) !== undefined
  }

  /** Where the entry stands that counts. */
  origin(kind: EntryKind, name: string): DocumentOfFile | undefined {
    return this.#documents.find(({ document }) => document.has(kind, name))
  }

  /** A text of the entry that counts. */
  text(kind: EntryKind, name: string, field: string): string | undefined {
    return this.origin(kind, name)?.document.text(kind, name, field)
  }

  /** The entry that counts. */
  entry(kind: EntryKind, name: string): ConfigEntry | undefined {
    return this.origin(kind, name)?.document.copyOf(kind, name)
  }

  /** Puts an entry where the one of that name stands, else where new things go. */
  put(entry: ConfigEntry): void {
    const { document } = this.origin(entry.kind, entry.name) ?? this.#target
    document.put(entry)
  }

  /** Takes the entry that counts out of its file. */
  remove(kind: EntryKind, name: string): void {
    this.origin(kind, name)?.document.remove(kind, name)
  }

  /** The names of all contexts that have this cluster, or user. */
  contextsWith(kind: 'cluster' | 'user', name: string): string[] {
    return this.names('context').filter((context) => this.text('context', context, kind) === name)
  }
}
