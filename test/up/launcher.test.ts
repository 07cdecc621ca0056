/**
 * Tests of the launcher in a checkout: it builds only what is missing, and works from any directory and through links.
 */
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, rmSync, statSync, symlinkSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { repository, t8s, temporaryFolder } from './t8s-process.ts'

/** Returns a fresh clone: the sources, with the packages of this checkout so that nothing is downloaded. */
function freshClone(t: TestContext): string {
  const clone = join(temporaryFolder(t), 'clone')
  mkdirSync(clone)
  for (const name of ['t8s', 'package.json', 'package-lock.json', 'tsconfig.json', 'scripts', 'src']) {
    cpSync(join(repository, name), join(clone, name), { recursive: true, preserveTimestamps: true })
  }
  symlinkSync(join(repository, 'node_modules'), join(clone, 'node_modules'))
  return clone
}

/** Of a command that builds, which takes minutes on a busy machine. In ms. */
const timeout = 180_000

test('the launcher of a clone', async (t) => {
  // They share the clone and its builds, in this order.
  const clone = freshClone(t)
  const program = join(clone, 't8s')

  await t.test('a fresh clone builds once and runs from any directory and through links', () => {
    const first = t8s(['version'], { program, cwd: '/', timeout })
    assert.equal(first.code, 0, first.stderr)
    assert.match(first.stdout, /^t8s \d/)
    assert.match(first.stderr, /building/)

    const second = t8s(['version'], { program, cwd: '/' })
    assert.deepEqual([second.code, second.stderr, second.stdout], [0, '', first.stdout])

    const [link, relative] = [join(clone, '../link'), join(clone, '../relative')]
    symlinkSync(program, link)
    symlinkSync('clone/t8s', relative)
    for (const path of [link, relative])
      assert.equal(t8s(['version'], { program: path, cwd: '/' }).stdout, first.stdout)
  })

  await t.test('a changed source is rebuilt, a changed test is not', () => {
    const built = () => statSync(join(clone, '.build/t8s.js')).mtimeMs
    const first = built()
    const later = new Date(Date.now() + 1000)
    utimesSync(join(clone, 'src/lib/duration.test.ts'), later, later)
    assert.equal(t8s(['version'], { program }).stderr, '')
    utimesSync(join(clone, 'src/lib/duration.ts'), later, later)
    assert.match(t8s(['version'], { program, timeout }).stderr, /building/)
    assert.ok(built() > first)
  })

  await t.test('a broken source is an error, and the old build is not run', () => {
    rmSync(join(clone, 'src/cli/commands/version.ts'))
    const { code, stdout, stderr } = t8s(['version'], { program, timeout })
    assert.notEqual(code, 0)
    assert.equal(stdout, '')
    assert.match(stderr, /version\.ts/)
  })
})
