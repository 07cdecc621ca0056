import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'

/** Creates 360 MB of holes between live buffers; prints resident megabytes before and after. */
const script = `
  import { setImmediate } from 'node:timers/promises'
  import { trimMalloc } from ${JSON.stringify(new URL('./trim-malloc.ts', import.meta.url).href)}
  const resident = () => Math.round(process.memoryUsage.rss() / 1024 / 1024)
  let all = Array.from({ length: 120_000 }, () => Buffer.allocUnsafeSlow(3000).fill(1))
  const kept = all.filter((_, i) => i % 50 === 0)
  all = []
  gc()
  await setImmediate()
  gc()
  const before = resident()
  await trimMalloc()
  console.log(JSON.stringify({ before, after: resident(), kept: kept.length }))`

const hasGlibc = 'glibcVersionRuntime' in ((process.report.getReport() as { header: object }).header ?? {})

test('trimMalloc returns freed memory to the system', {
  skip: !hasGlibc && 'only glibc returns holes',
}, () => {
  const flags = ['--expose-gc', '--input-type=module', '--eval', script]
  const { before, after } = JSON.parse(
    execFileSync(process.execPath, flags, { encoding: 'utf8', env: { ...process.env, MALLOC_ARENA_MAX: '1' } }),
  )
  assert.ok(before > 300, `${before} MB are held`)
  assert.ok(after < before - 200, `${before} MB became ${after}`)
})
