import { existsSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Returns the path of a generated file, such as `schema.json`: beside the bundle in a release, in `.build/` in
 * development. Throws if it does not exist.
 */
export function generatedFile(name: string): string {
  const folder = import.meta.dirname
  for (const path of [join(folder, name), join(folder, '.build', name), join(folder, '../../../.build', name)])
    if (existsSync(path)) return path
  throw new Error(`${name} is missing: generate it with \`node scripts/generate/schema.ts\``)
}
