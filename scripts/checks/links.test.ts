import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { brokenLinks, linkedPages, pagesOf } from './links.ts'

const repository = join(import.meta.dirname, '../..')

test('all links of the pages lead to a file and a heading', () => {
  const pages = pagesOf(repository)
  assert.ok(pages.length > 100, `${pages.length} pages`)
  assert.deepEqual(brokenLinks(repository, pages), [])
})

test('README.md leads to each page of docs', () => {
  const reached = new Set<string>()
  const follow = (page: string): void => {
    if (reached.has(page)) return
    reached.add(page)
    linkedPages(page).forEach(follow)
  }
  follow(join(repository, 'README.md'))
  const isPage = /\/docs\/(?!decisions\/)/
  assert.deepEqual(
    pagesOf(repository).filter((page) => isPage.test(page) && !reached.has(page)),
    [],
  )
})

test('a missing file, heading and page of a heading are found; code and the web are left out', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 't8s-links-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const page = join(folder, 'a.md')
  const good = '[a](#two-words) [b](b.md#x) [c](b.md) [web](https://a.b/c) `[d](d.md)`\n```\n[e](e.md)\n```\n'
  writeFileSync(page, `# Two *words*!\n${good}[f](f.md)\n[g](#g) [h](b.md#y)\n`)
  writeFileSync(join(folder, 'b.md'), '## X\n')
  assert.deepEqual(brokenLinks(folder, [page]), ['a.md:6: f.md', 'a.md:7: #g', 'a.md:7: b.md#y'])
})
