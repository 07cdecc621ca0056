/** Checks the links of Markdown files to files of the repository and to headings. Links to the web are not followed. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

/** The pages of the repository, as absolute paths. */
export const pagesOf = (root: string): readonly string[] =>
  globSync(['*.md', '{docs,bench,examples,test,src,scripts}/**/*.md'], { cwd: root }).map((page) => join(root, page))

/** Returns a line for each link that leads nowhere: the page, the line and the link. */
export function brokenLinks(root: string, pages: readonly string[]): readonly string[] {
  const anchors = new Map<string, ReadonlySet<string>>()
  const anchorsIn = (page: string): ReadonlySet<string> => {
    const known = anchors.get(page) ?? anchorsOf(readFileSync(page, 'utf8'))
    anchors.set(page, known)
    return known
  }
  return pages.flatMap((page) =>
    linksOf(readFileSync(page, 'utf8')).flatMap(({ line, target }) => {
      const [path = '', anchor] = target.split('#')
      const file = path === '' ? page : resolve(dirname(page), decodeURIComponent(path))
      const isBroken =
        !existsSync(file) || (anchor !== undefined && file.endsWith('.md') && !anchorsIn(file).has(anchor))
      return isBroken ? [`${relative(root, page)}:${line}: ${target}`] : []
    }),
  )
}

/** Returns the pages that a page links to, itself excepted. */
export const linkedPages = (page: string): readonly string[] =>
  linksOf(readFileSync(page, 'utf8'))
    .map(({ target }) => target.split('#')[0]!)
    .filter((path) => path.endsWith('.md'))
    .map((path) => resolve(dirname(page), path))

/** The lines of a page without its blocks of code. */
function* proseOf(markdown: string): Generator<readonly [line: number, text: string]> {
  let fence: string | undefined
  for (const [index, text] of markdown.split('\n').entries()) {
    const [, mark] = /^\s*(```+|~~~+)/.exec(text) ?? []
    if (mark === undefined) {
      if (fence === undefined) yield [index + 1, text]
    } else if (fence === undefined) fence = mark
    else if (mark.startsWith(fence)) fence = undefined
  }
}

const linksOf = (markdown: string): readonly { readonly line: number; readonly target: string }[] =>
  [...proseOf(markdown)].flatMap(([line, text]) =>
    [...text.replace(/`[^`]*`/g, '').matchAll(/\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)/g)]
      .map(([, target = '']) => ({ line, target }))
      .filter(({ target }) => !/^[a-z]+:/.test(target)),
  )

/** The anchors of headings, as GitHub makes them. */
function anchorsOf(markdown: string): ReadonlySet<string> {
  const anchors = new Set<string>()
  for (const [, text] of proseOf(markdown)) {
    const [, heading] = /^#{1,6} +(.*?) *$/.exec(text) ?? []
    if (heading === undefined) continue
    const words = heading.replace(/\]\([^)]*\)/g, '').toLowerCase()
    const anchor = words.replace(/[^\p{L}\p{N}\s_-]/gu, '').replace(/\s/g, '-')
    let unique = anchor
    for (let count = 1; anchors.has(unique); count += 1) unique = `${anchor}-${count}`
    anchors.add(unique)
  }
  return anchors
}
