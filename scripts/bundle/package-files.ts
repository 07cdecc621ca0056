/** The files of the published package beside the bundle: its entries, and the list of files that npm packs. */
import { build } from 'esbuild'

/**
 * Returns the entries of the package by name. They check the version of Node before they load anything else, in syntax
 * that old versions read; `require` on those cannot load ES modules at all.
 */
export async function packageEntries(root: string, names: readonly string[]): Promise<Map<string, string>> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ['src/lib/process/require-supported-node.ts'],
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node12',
    write: false,
  })
  const check = 'require-supported-node.cjs'
  return new Map([
    [`exports/${check}`, outputFiles[0]!.text],
    ...names.flatMap((name) => [
      [`exports/${name}.js`, `import './${check}'\nexport * from '../${name}.js'\n`] as const,
      [`exports/${name}.cjs`, `require('./${check}')\nmodule.exports = require('../${name}.js')\n`] as const,
    ]),
  ])
}

/** Returns rules for npm that leave out all but these files of the folder. */
export const packList = (names: readonly string[]): string =>
  `${['/*', ...names.map((name) => `!/${name}`)].join('\n')}\n`
