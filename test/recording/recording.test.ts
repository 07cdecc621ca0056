/** `t8s record` and `t8s replay`: kubectl sees the same objects in the recorded cluster and in the replayed one. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { waitFor } from '../support/wait-for.ts'
import { kubectl, serve, stop, t8s, temporaryFolder, up, withoutKubectl } from '../up/t8s-process.ts'

const objects = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: cakes.example.com }
spec:
  group: example.com
  names: { kind: Cake, plural: cakes }
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } }
---
apiVersion: v1
kind: Secret
metadata: { name: password }
stringData: { word: opensesame }
---
apiVersion: v1
kind: Service
metadata: { name: web }
spec: { ports: [{ port: 80 }], selector: { app: web }, type: NodePort }
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: web }
spec: { maxReplicas: 4, scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: web } }
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: { name: absent }
webhooks:
  - name: absent.example.com
    admissionReviewVersions: [v1]
    sideEffects: None
    clientConfig: { service: { name: web, namespace: default } }
    rules: [{ apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [limitranges] }]
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: { name: v1.elsewhere.example.com }
spec:
  group: elsewhere.example.com
  version: v1
  groupPriorityMinimum: 1
  versionPriority: 1
  insecureSkipTLSVerify: true
  service: { name: web, namespace: default }
`

const cake = 'apiVersion: example.com/v1\nkind: Cake\nmetadata: { name: plum }\nlayers: 9007199254740993\n'

const kinds =
  'pods,deployments.apps,replicasets.apps,services,events,secrets,serviceaccounts,hpa,cakes,crd,clusterroles,' +
  'validatingwebhookconfigurations,nodes,leases'

test('a replayed cluster has the objects of the recorded one', { skip: withoutKubectl }, async (t) => {
  const folder = temporaryFolder(t)
  const live = await up(t, [`--data-dir=${join(folder, 'data')}`, '--secure-port=0', '--nodes=1'])
  const apply = (input: string) => {
    const env = { ...process.env, KUBECONFIG: live.kubeconfig }
    const { status, stderr } = spawnSync('kubectl', ['apply', '-f', '-'], { env, input, encoding: 'utf8' })
    assert.equal(status, 0, stderr)
  }
  apply(objects)
  kubectl(live.kubeconfig, 'wait', 'crd/cakes.example.com', '--for=condition=Established')
  apply(cake)
  assert.equal(kubectl(live.kubeconfig, 'create', 'deployment', 'web', '--image=web').code, 0)
  await waitFor('the pod runs', () => /Running/.test(kubectl(live.kubeconfig, 'get', 'pods').stdout))

  const file = join(folder, 'live.t8s')
  const env = { KUBECONFIG: live.kubeconfig }
  // Until no controller writes while it is recorded.
  let before: ReadonlyMap<string, string>
  let recorded: ReturnType<typeof t8s>
  do {
    rmSync(file, { force: true })
    before = everything(live.kubeconfig)
    recorded = t8s(['record', file], { env })
  } while (!isDeepStrictEqual(everything(live.kubeconfig), before))
  assert.match(recorded.stdout, /^recorded \d+ objects of \d+ kinds to .*live\.t8s \(Kubernetes v1\.36\.2/)
  assert.match(recorded.stdout, /^replaced the values of \d+ Secrets/m)
  assert.match(recorded.stdout, /^not recorded: elsewhere\.example\.com\/v1: another server answers for it$/m)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  const text = gunzipSync(readFileSync(file)).toString()
  assert.ok(!text.includes('opensesame') && !text.includes(Buffer.from('opensesame').toString('base64')))
  assert.match(t8s(['record', file], { env }).stderr, /exists already/)

  assert.deepEqual(await stop(live), { code: 0, signal: null })

  const replayed = await serve(t, ['replay', file])
  assert.match(replayed.output(), /^serving \d+ objects, recorded at 20\S+ from Kubernetes v1\.36\.2/m)
  assert.match(replayed.output(), /^not served: 1 apiservices\.apiregistration\.k8s\.io of other servers/m)
  assert.match(replayed.output(), /^not served: 1 configmaps that number simulated nodes/m)
  const after = everything(replayed.kubeconfig)
  assert.equal([...after.keys()].join('\n'), [...before.keys()].join('\n'))
  for (const [name, item] of before) assert.equal(after.get(name), item)
  const secret = kubectl(replayed.kubeconfig, 'get', 'secret', 'password', '-o', 'json').stdout
  assert.equal((JSON.parse(secret) as { readonly data: { readonly word: string } }).data.word, 'cmVwbGFjZWQ=')
  assert.match(kubectl(replayed.kubeconfig, 'get', 'cakes', 'plum', '-o', 'yaml').stdout, /layers: 9007199254740993\n/)
  // Writes work, and no webhook of the recorded cluster is called.
  assert.equal(kubectl(replayed.kubeconfig, 'scale', 'deployment', 'web', '--replicas=5').code, 0)
  const limits = join(folder, 'limits.yaml')
  writeFileSync(limits, 'apiVersion: v1\nkind: LimitRange\nmetadata: { name: a }\nspec: { limits: [] }\n')
  assert.match(kubectl(replayed.kubeconfig, 'create', '-f', limits).stdout, /created/)
  assert.deepEqual(await stop(replayed), { code: 0, signal: null })

  const other = t8s(['replay', replayed.kubeconfig])
  assert.match(other.stderr, /kubeconfig is not a recording: t8s record FILE makes one/)
  const cut = join(folder, 'cut.t8s')
  writeFileSync(cut, readFileSync(file).subarray(0, 4000))
  assert.match(t8s(['replay', cut]).stderr, /cut\.t8s is cut or damaged: record it once more/)
})

/** Each object as JSON, by its kind, namespace and name. */
function everything(kubeconfig: string): ReadonlyMap<string, string> {
  const { stdout } = kubectl(kubeconfig, 'get', kinds, '-A', '-o', 'json', '--show-managed-fields')
  const { items } = JSON.parse(stdout) as { readonly items: readonly Item[] }
  // Each server renews leases, and writes its own port into its Service.
  const changes = new Set(['Secret', 'Lease', 'Service kubernetes'])
  return new Map(
    items
      .filter(({ kind, metadata: { name } }) => !changes.has(kind) && !changes.has(`${kind} ${name}`))
      .map((item) => [`${item.kind} ${item.metadata.namespace} ${item.metadata.name}`, JSON.stringify(item)]),
  )
}

interface Item {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
}
