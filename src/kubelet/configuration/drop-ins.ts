/** `--config-dir`: files whose fields override those of the configuration, as upstream merges them. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import { mergePatch } from '../../machinery/patch/merge-patch.ts'
import { type KubeletConfiguration, withDefaults } from './defaults.ts'
import { decodeWritten, readDocument } from './index.ts'
import type { WrittenConfiguration } from './shape.ts'

const extension = '.conf'

export interface MergedConfiguration {
  readonly configuration: KubeletConfiguration
  /** The names of the fields in the files. */
  readonly fields: readonly string[]
}

/**
 * Merges the files `*.conf` of a folder and its subfolders, in the order of their names: members of maps one by one,
 * lists as a whole, and null is the default. Throws an ExplainedError that names the faulty file.
 */
export function mergeDropIns(base: KubeletConfiguration, folder: string): MergedConfiguration {
  let merged: WrittenConfiguration = base
  const fields = new Set<string>()
  for (const file of filesBelow(folder)) {
    const { kind: _kind, apiVersion: _version, ...patch } = readDropIn(file)
    for (const name of Object.keys(patch)) fields.add(name)
    merged = mergePatch(merged, patch)
  }
  return { configuration: withDefaults(merged), fields: [...fields] }
}

function readDropIn(file: string): Record<string, unknown> {
  try {
    const document = readDocument(file)
    // Checks the kind and the fields; nulls, which the decoder drops, remain for the merge.
    decodeWritten(document)
    return { ...(document as object) }
  } catch (error) {
    throw new ExplainedError(`failed to load kubelet dropin file, path: ${file}, error: ${reasonOf(error)}`, {
      cause: error,
    })
  }
}

function filesBelow(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap((entry) => {
        const path = join(folder, entry.name)
        if (entry.isDirectory()) return filesBelow(path)
        return entry.name.endsWith(extension) ? [path] : []
      })
  } catch (error) {
    if (error instanceof ExplainedError) throw error
    throw new ExplainedError(
      `failed to walk through kubelet dropin directory ${JSON.stringify(folder)}: ${reasonOf(error)}`,
    )
  }
}
