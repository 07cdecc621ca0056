/** The licences of packages that are in the bundle, as one text. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Returns the folders of the packages among the inputs of a build, such as `node_modules/ws`. */
export function packagesOf(inputs: readonly string[]): string[] {
  const folders = inputs.flatMap((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(input) ?? [])
  return [...new Set(folders)].sort()
}

/** @throws for a package whose folder has no licence: its terms must be checked by hand. */
export function noticesOf(root: string, folders: readonly string[]): string {
  const notices = folders.map((folder) => {
    const { name, version, license, author } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as {
      readonly name: string
      readonly version: string
      readonly license?: string
      readonly author?: string | { readonly name: string }
    }
    const texts = readdirSync(join(root, folder))
      .filter((file) => /^(licen[cs]e|notice|copying)/i.test(file))
      .sort()
      .map((file) => readFileSync(join(root, folder, file), 'utf8').trim())
    const holder = typeof author === 'string' ? author : author?.name
    if (texts.length === 0 && !license)
      throw new Error(`${folder} has no licence: check its terms before it is bundled`)
    const body = texts.length > 0 ? texts : [`Copyright ${holder ?? `the authors of ${name}`}. Licence: ${license}.`]
    return [`${name} ${version} (${license ?? 'see below'})`, ...body].join('\n\n')
  })
  const line = `\n\n${'-'.repeat(80)}\n\n`
  return `Typernetes contains these packages, under the licences of their authors.${line}${notices.join(line)}\n`
}
