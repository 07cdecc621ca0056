/** `t8s up --memory --manifests --watch --wait`: objects of files, and a cluster that leaves nothing behind. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { waitFor } from '../support/wait-for.ts'
import { kubectl, serve, stop, t8s, temporaryFolder, withoutKubectl } from './t8s-process.ts'

const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: boats.example.com }
spec:
  group: example.com
  names: { kind: Boat, plural: boats }
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } }
`
const objects = `apiVersion: example.com/v1
kind: Boat
metadata: { name: dinghy, namespace: harbour }
---
apiVersion: v1
kind: Pod
metadata: { name: early, namespace: harbour }
spec: { containers: [{ name: c, image: c }] }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: harbour }
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template: { metadata: { labels: { app: web } }, spec: { containers: [{ name: c, image: c }] } }
`
const namespace = 'apiVersion: v1\nkind: Namespace\nmetadata: { name: harbour }\n'
const configMap = (value: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: tide, namespace: harbour }\ndata: { level: ${value} }\n`

test('manifests are applied in an order that works, and followed while they change', {
  skip: withoutKubectl,
}, async (t) => {
  const folder = temporaryFolder(t)
  const file = (name: string, text: string) => writeFileSync(join(folder, name), text)
  file('a-objects.yaml', objects)
  file('b-definition.yaml', definition)
  file('c-namespace.yaml', namespace)
  file('d-tide.yaml', configMap('low'))
  const up = ['up', '--memory', '--secure-port=0', '--manifests', folder]
  const config = join(temporaryFolder(t), 'cluster.yaml')
  const fields = `memory: true\nsecurePort: 0\nmanifests: ${folder}\nwatch: true\nwait: true\n`
  writeFileSync(config, `apiVersion: t8s.dev/v1alpha1\nkind: ClusterConfiguration\n${fields}`)
  const running = await serve(t, ['up', '--config', config])
  assert.match(running.output(), /^manifests: 6 objects applied$/m)
  assert.match(running.output(), /^data in memory$/m)
  const ask = (...args: readonly string[]) => kubectl(running.kubeconfig, '-n', 'harbour', ...args).stdout
  // --wait has waited for them.
  assert.equal(ask('get', 'deployment', 'web', '-o', 'jsonpath={.status.availableReplicas}'), '2')
  assert.match(ask('get', 'boats'), /^dinghy /m)

  file('d-tide.yaml', configMap('high'))
  await waitFor('the change', () => ask('get', 'configmap', 'tide', '-o', 'jsonpath={.data.level}') === 'high')
  file('d-tide.yaml', '{')
  await waitFor('the error', () =>
    /^manifests have changed, and cannot be applied: .*d-tide\.yaml/m.test(running.output()),
  )
  rmSync(join(folder, 'd-tide.yaml'))
  await waitFor('the deletion', () => /^manifests have changed: 5 objects applied, 1 deleted$/m.test(running.output()))
  assert.equal(ask('get', 'configmap', 'tide', '--ignore-not-found'), '')

  assert.deepEqual(await stop(running), { code: 0, signal: null })
  assert.ok(!existsSync(dirname(running.kubeconfig)))

  mkdirSync(join(folder, 'wrong'))
  writeFileSync(join(folder, 'wrong/pod.yaml'), 'apiVersion: v1\nkind: Pod\nmetadata: { name: p }\nspec: {}\n')
  const wrong = t8s([...up.slice(0, -1), join(folder, 'wrong')])
  assert.equal(wrong.code, 1)
  assert.match(wrong.stderr, /^t8s: .*Pod "p" is invalid: spec\.containers: Required value/m)
  const [, ...documents] = objects.split('---\n')
  const pending = documents.join('---\n').replace('image: c }', 'image: c, resources: { requests: { cpu: 99 } } }')
  writeFileSync(join(folder, 'wrong/pod.yaml'), `${namespace}---\n${pending}`)
  const late = t8s([...up.slice(0, -1), join(folder, 'wrong'), '--wait=1s'])
  assert.equal(late.code, 1)
  assert.match(
    late.stderr,
    /^t8s: the cluster is not ready after 1 s .*\n {2}Pod harbour\/early: its condition Ready is not True$/m,
  )
  assert.match(
    t8s(['up', '--memory', '--data-dir', folder]).stderr,
    /--memory stores nothing, and --data-dir names a store/,
  )
  assert.match(t8s(['up', '--memory', '--node-type=real']).stderr, /real nodes need files of the cluster/)
  assert.match(t8s(['up', '--memory', '--watch', '--secure-port=0']).stderr, /--watch needs --manifests/)
})
