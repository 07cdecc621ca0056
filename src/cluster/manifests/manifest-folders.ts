/** Keeps a cluster like the manifests in some folders and files: applies them, and again when they change. */
import { type FSWatcher, statSync, watch } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { DynamicClient } from '../../client/discovery/dynamic-client.ts'
import { applyManifests } from '../../client/manifests/apply-manifests.ts'
import { isNotFound } from '../../client/rest/api-errors.ts'
import { messageOf } from '../../lib/message-of.ts'
import type { Unstructured } from '../../machinery/object.ts'

const fieldManager = 't8s-manifests'
/** Editors write a file in several steps. In ms. */
const settleMs = 200

export interface ManifestFolders {
  /** Applies all manifests, and resolves with the number of objects. Its errors name the file or the object. */
  apply(): Promise<number>
  /** Applies them again after each change, and deletes objects whose manifests were removed since. */
  watch(): void
  /** Ends the watch, and resolves when a running apply is done. */
  close(): Promise<void>
}

/** `log` gets a line for each later apply, and its errors. */
export function manifestFolders(
  dynamic: DynamicClient,
  paths: readonly string[],
  log: (line: string, severity?: 'error') => void,
): ManifestFolders {
  const watchers: FSWatcher[] = []
  let applied = new Map<string, Unstructured>()
  let timer: NodeJS.Timeout | undefined
  let running = Promise.resolve()

  async function apply(): Promise<number> {
    const objects = await applyManifests(dynamic, paths, { fieldManager })
    applied = new Map(objects.map((object) => [keyOf(object), object]))
    return applied.size
  }

  async function applyAgain(): Promise<void> {
    const before = applied
    try {
      await apply()
      const removed = [...before].filter(([key]) => !applied.has(key))
      for (const [, object] of removed) await remove(dynamic, object)
      const deleted = removed.length > 0 ? `, ${removed.length} deleted` : ''
      log(`manifests have changed: ${applied.size} objects applied${deleted}`)
    } catch (error) {
      log(`manifests have changed, and cannot be applied: ${messageOf(error)}`, 'error')
    }
  }

  function changed(): void {
    clearTimeout(timer)
    timer = setTimeout(() => {
      running = running.then(applyAgain)
    }, settleMs)
  }

  return {
    apply,
    watch() {
      // A file is watched by its folder, as editors replace files.
      for (const path of new Set(paths.map(folderOf)))
        watchers.push(
          watch(path, changed).on('error', (error) =>
            log(`${path} is no longer watched: ${messageOf(error)}`, 'error'),
          ),
        )
    },
    async close() {
      clearTimeout(timer)
      for (const watcher of watchers.splice(0)) watcher.close()
      await running
    },
  }
}

const folderOf = (path: string): string => (statSync(path).isDirectory() ? resolve(path) : dirname(resolve(path)))

const keyOf = ({ apiVersion, kind, metadata: { namespace = '', name } }: Unstructured): string =>
  `${apiVersion}/${kind}/${namespace}/${name}`

async function remove(dynamic: DynamicClient, { apiVersion, kind, metadata }: Unstructured): Promise<void> {
  const reference = { apiVersion, kind, namespace: metadata.namespace, name: metadata.name ?? '' }
  await dynamic.delete(reference, { propagationPolicy: 'Background' }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error
  })
}
