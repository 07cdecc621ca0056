/** Builds the page of traces: one HTML file, whose only gap is the data of a trace. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'

const folder = 'src/apiserver/test-control/traces/page'

/** The browser runs this script and this style only, and connects to nothing. */
const policyOf = (script: string, style: string): string =>
  [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')

const hashOf = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`

/** Returns HTML, with `{{trace}}` in place of the data. */
export async function tracePage(root: string): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: { script: join(folder, 'browser/main.ts'), style: join(folder, 'page.css') },
    outdir: 'out',
    bundle: true,
    minify: true,
    format: 'iife',
    platform: 'browser',
    target: 'es2022',
    // The end tag of the element must not occur in it.
    supported: { 'inline-script': false, 'inline-style': false },
    charset: 'ascii',
    write: false,
  })
  const textOf = (ending: string): string => outputFiles.find(({ path }) => path.endsWith(ending))!.text
  const [script, style] = [textOf('.js'), textOf('.css')]
  const parts = [
    ['{{policy}}', policyOf(script, style)],
    ['<style></style>', `<style>${style}</style>`],
    ['<script></script>', `<script>${script}</script>`],
  ] as const
  return parts.reduce(
    (page, [gap, text]) => fill(page, gap, text),
    readFileSync(join(root, folder, 'page.html'), 'utf8'),
  )
}

function fill(page: string, gap: string, text: string): string {
  if (!page.includes(gap)) throw new Error(`page.html has no ${gap}`)
  return page.replace(gap, () => text)
}
