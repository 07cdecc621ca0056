/** Locks of `t8s config`, which kubectl also uses. */
import assert from 'node:assert/strict'
import { existsSync, unlinkSync } from 'node:fs'
import { test } from 'node:test'
import { parse } from 'yaml'
import { Home, kubeconfigOf } from './home.ts'

test('a held lock is respected and reported', async (t) => {
  const home = new Home(t)
  home.write('.kube/config', kubeconfigOf(['dev', 'prod']))
  const lock = home.write('.kube/config.lock', '')
  await home.fails(
    ['use', 'prod'],
    /config is locked by another program \(.*config\.lock is \d+ (seconds|minutes) old\): .* remove .*config\.lock/,
  )
  // A waiting writer continues when the lock is released.
  const waiting = home.ok(['use', 'prod'])
  setTimeout(() => unlinkSync(lock), 1000)
  assert.equal(await waiting, 'switched to context "prod"\n')
  assert.ok(!existsSync(lock))
})

test('concurrent writers do not lose changes', async (t) => {
  const home = new Home(t)
  home.write('.kube/config', kubeconfigOf(['dev']))
  const names = Array.from({ length: 6 }, (_, index) => `c${index}`)
  await Promise.all(names.map((name) => home.ok(['import', '-'], { input: kubeconfigOf([name]) })))
  assert.deepEqual(
    parse(home.read())
      .contexts.map(({ name }: { name: string }) => name)
      .sort(),
    [...names, 'dev'],
  )
})
