/**
 * The templates of the first objects of clusters in memory. Those of the thread of clusters are saved beside its
 * compiled code, so that the first cluster of a later process copies them, too.
 */
import { readFileSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { join } from 'node:path'
import { FirstObjectTemplates } from '../apiserver/bootstrap/templates/first-object-templates.ts'
import { replaceFile } from '../lib/files/atomic-file.ts'

export const firstObjects = new FirstObjectTemplates({
  read: (name) => contentOf(pathOf(name)),
  write(name, text) {
    const path = pathOf(name)
    if (path !== undefined) replaceFile(path, text, 0o600)
  },
})

/** Undefined for source code, which changes without a version, and for threads whose compiled code is not cached. */
function pathOf(name: string): string | undefined {
  const folder = getCompileCacheDir()
  const build = folder && contentOf(join(import.meta.dirname, 'build-id'))
  return build && join(folder, `${name}-${build.trim()}.json`)
}

/** Undefined if there is no such file, or it cannot be read. */
function contentOf(path: string | undefined): string | undefined {
  try {
    return path && readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
