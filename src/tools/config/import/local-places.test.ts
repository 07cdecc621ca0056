import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { localPlaces } from './local-places.ts'

test('finds kubeconfigs of k3s, RKE2, kubeadm and kind in their default paths', (t) => {
  const root = mkdtempSync(join(tmpdir(), 't8s-places-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const home = join(root, 'home')
  const found = (taken: readonly string[] = []): string[] =>
    localPlaces(home, taken, root).map(({ what, file }) => `${what} ${file.slice(root.length)}`)
  assert.deepEqual(found(), [])
  for (const file of [
    'etc/rancher/k3s/k3s.yaml',
    'etc/rancher/rke2/rke2.yaml',
    'etc/kubernetes/admin.conf',
    'home/.kube/config',
    'home/.kube/kind-config-a',
  ]) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), '')
  }
  const all = [
    'k3s /etc/rancher/k3s/k3s.yaml',
    'RKE2 /etc/rancher/rke2/rke2.yaml',
    'kubeadm /etc/kubernetes/admin.conf',
    'kind /home/.kube/config',
    'kind /home/.kube/kind-config-a',
  ]
  assert.deepEqual(found(), all)
  assert.deepEqual(
    found([join(home, '.kube/config'), join(root, 'gone')]),
    all.filter((place) => !place.endsWith('.kube/config')),
  )
})
