/** Exports a context with its cluster and user as a kubeconfig that is valid in any folder. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ExplainedError, reasonOf } from '../../../lib/explained-error.ts'
import { ConfigDocument, type ConfigEntry, notAKubeconfig } from '../documents/config-document.ts'
import { replaceFile } from '../files/replace-file.ts'
import { incomingContext, selfContainedEntry } from '../import/incoming.ts'
import { localSource } from '../import/source.ts'
import { requireContext } from './change-contexts.ts'
import { ConfigSet } from './config-set.ts'

/**
 * Returns the text; the context is the current one. Rejects with an ExplainedError if the context, its cluster or its
 * user is missing.
 */
export async function exportedContext(files: readonly string[], name: string, embed: boolean): Promise<string> {
  const config = readConfigSet(files)
  requireContext(config, name)
  const exported = new ConfigDocument('', notAKubeconfig('the export'))
  for (const kind of ['cluster', 'context', 'user'] as const) {
    const part = kind === 'context' ? name : config.text('context', name, kind)
    const from = part === undefined ? undefined : config.origin(kind, part)
    // incomingContext throws for missing parts.
    if (part !== undefined && from)
      exported.put(await absoluteEntry(from.document.copyOf(kind, part)!, from.file, embed))
  }
  incomingContext(exported, files.join(', '), name)
  exported.currentContext = name
  return exported.toString()
}

/** Writes the file with mode 0600. Throws an ExplainedError if it exists and `force` is false. */
export function writeExport(file: string, text: string, force: boolean): void {
  if (!force && existsSync(file))
    throw new ExplainedError(`${file} exists: name another file, or overwrite it with --force`)
  replaceFile(file, text)
}

const absoluteEntry = (entry: ConfigEntry, file: string, embed: boolean): Promise<ConfigEntry> =>
  selfContainedEntry(entry, localSource(file, dirname(resolve(file)), ''), embed)

/** Reads the existing kubeconfigs. Throws an ExplainedError if there is none, or if one cannot be read. */
function readConfigSet(files: readonly string[]): ConfigSet {
  const present = files.filter((file) => existsSync(file))
  const [first] = present
  if (first === undefined)
    throw new ExplainedError(
      `there is no kubeconfig at ${files.join(', ')}: import one with t8s config import, or set KUBECONFIG`,
    )
  const documents = present.map((file) => {
    try {
      return { file, document: new ConfigDocument(readFileSync(file, 'utf8'), notAKubeconfig(file)) }
    } catch (error) {
      if (error instanceof ExplainedError) throw error
      throw new ExplainedError(`cannot read ${file}: ${reasonOf(error)}`, { cause: error })
    }
  })
  return new ConfigSet(documents, first)
}
