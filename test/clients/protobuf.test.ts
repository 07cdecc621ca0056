/** Bodies in Kubernetes' protobuf: objects from kubectl ≥ 1.32 are stored like the same manifests in JSON. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { describe, test } from 'node:test'
import { envelope, field, number } from '../../src/machinery/protobuf/encode.fixture.ts'
import { installedKubectls, Kubectl } from '../support/kubectl.ts'
import { type Answer, apiControllers, type TestCluster, testCluster } from '../support/test-cluster.ts'

const mediaType = 'application/vnd.kubernetes.protobuf'

/** Namespaced kinds: arguments of `kubectl create`, and the path of the object in a namespace. */
const namespaced: Readonly<Record<string, string>> = {
  'configmap made --from-literal=a=1 --from-literal=empty=': 'api/v1/namespaces/NS/configmaps',
  'secret generic made --from-literal=password=hunter2 --type=example.com/x': 'api/v1/namespaces/NS/secrets',
  'secret docker-registry made --docker-username=u --docker-password=p': 'api/v1/namespaces/NS/secrets',
  'serviceaccount made': 'api/v1/namespaces/NS/serviceaccounts',
  'service clusterip made --tcp=80:8080': 'api/v1/namespaces/NS/services',
  'service clusterip made --clusterip=None': 'api/v1/namespaces/NS/services',
  'service externalname made --external-name=example.com': 'api/v1/namespaces/NS/services',
  'quota made --hard=pods=2 --scopes=BestEffort': 'api/v1/namespaces/NS/resourcequotas',
  'quota made --hard=cpu=1,memory=1Gi': 'api/v1/namespaces/NS/resourcequotas',
  'deployment made --image=nginx --replicas=2 --port=80 -- sleep 5': 'apis/apps/v1/namespaces/NS/deployments',
  'job made --image=busybox -- true': 'apis/batch/v1/namespaces/NS/jobs',
  'cronjob made --image=busybox --schedule=*/5_*_*_*_* -- true': 'apis/batch/v1/namespaces/NS/cronjobs',
  'role made --verb=get,list --resource=pods,deployments.apps --resource-name=a':
    'apis/rbac.authorization.k8s.io/v1/namespaces/NS/roles',
  'rolebinding made --role=r --user=u --group=g --serviceaccount=ns:sa':
    'apis/rbac.authorization.k8s.io/v1/namespaces/NS/rolebindings',
  'ingress made --class=c --rule=example.com/a*=svc:http,tls=secret --annotation=a=b':
    'apis/networking.k8s.io/v1/namespaces/NS/ingresses',
  'poddisruptionbudget made --selector=app=a --min-available=50%': 'apis/policy/v1/namespaces/NS/poddisruptionbudgets',
  'poddisruptionbudget made --selector=app=a --max-unavailable=1': 'apis/policy/v1/namespaces/NS/poddisruptionbudgets',
}

const clusterScoped: Readonly<Record<string, string>> = {
  'namespace NAME': 'api/v1/namespaces',
  'clusterrole NAME --verb=get --resource=nodes,pods/log': 'apis/rbac.authorization.k8s.io/v1/clusterroles',
  'clusterrole NAME --aggregation-rule=rbac.example.com/aggregate=true':
    'apis/rbac.authorization.k8s.io/v1/clusterroles',
  'clusterrole NAME --verb=get --non-resource-url=/logs/*': 'apis/rbac.authorization.k8s.io/v1/clusterroles',
  'clusterrolebinding NAME --clusterrole=view --group=g': 'apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
  'priorityclass NAME --value=-10 --preemption-policy=Never --description=low':
    'apis/scheduling.k8s.io/v1/priorityclasses',
}

/** A pod with nearly all forms of fields that protobuf encodes differently. */
const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'original', annotations: { note: 'x' } },
  spec: {
    terminationGracePeriodSeconds: 2,
    nodeSelector: { disk: 'ssd' },
    tolerations: [{ key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 0 }],
    securityContext: {
      runAsUser: 0,
      supplementalGroups: [1, 300],
      sysctls: [{ name: 'net.core.somaxconn', value: '1024' }],
    },
    affinity: {
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          {
            weight: 5,
            podAffinityTerm: {
              topologyKey: 'zone',
              labelSelector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['a', 'b'] }] },
            },
          },
        ],
      },
    },
    initContainers: [{ name: 'side', image: 'busybox', restartPolicy: 'Always' }],
    containers: [
      {
        name: 'main',
        image: 'nginx',
        command: ['nginx', ''],
        ports: [{ name: 'http', containerPort: 80 }],
        env: [
          { name: 'EMPTY', value: '' },
          { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
          { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1m' } } },
          { name: 'KEY', valueFrom: { secretKeyRef: { name: 's', key: 'k', optional: false } } },
        ],
        envFrom: [{ prefix: 'P_', configMapRef: { name: 'c', optional: true } }],
        resources: { limits: { cpu: '500m', memory: '1Gi' }, requests: { cpu: '0.1' } },
        livenessProbe: {
          httpGet: { path: '/', port: 'http', httpHeaders: [{ name: 'H', value: 'v' }] },
          periodSeconds: 3,
        },
        readinessProbe: { tcpSocket: { port: 80 } },
        startupProbe: { exec: { command: ['true'] }, failureThreshold: 9 },
        lifecycle: { preStop: { sleep: { seconds: 1 } }, postStart: { exec: { command: ['true'] } } },
        securityContext: { privileged: false, capabilities: { add: ['NET_ADMIN'], drop: ['ALL'] } },
        volumeMounts: [{ name: 'data', mountPath: '/data', readOnly: true }],
      },
    ],
    volumes: [
      { name: 'data', emptyDir: {} },
      { name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '64Mi' } },
      { name: 'config', configMap: { name: 'c', items: [{ key: 'a', path: 'b', mode: 0o400 }] } },
      {
        name: 'all',
        projected: {
          sources: [
            { secret: { name: 's' } },
            { downwardAPI: { items: [{ path: 'l', fieldRef: { fieldPath: 'metadata.labels' } }] } },
          ],
        },
      },
      {
        name: 'claim',
        ephemeral: {
          volumeClaimTemplate: {
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          },
        },
      },
    ],
  },
}

/** Returns an object without its status and without the fields that differ between any two objects. */
function content({ metadata, status: _, ...rest }: Answer, ...more: string[]): unknown {
  const { name, namespace, uid, resourceVersion, creationTimestamp, managedFields, ...others } = metadata
  const fields = ((managedFields ?? []) as { fieldsV1: unknown; subresource?: string }[])
    .filter(({ subresource }) => subresource === undefined)
    .map(({ fieldsV1 }) => fieldsV1)
  const text = JSON.stringify({ metadata: others, ...rest, fields })
  return JSON.parse([name, ...more].reduce((before, word) => before.replaceAll(`"${word}"`, '"…"'), text))
}

const runProtobuf = async (k: Kubectl, line: string): Promise<string> => {
  // Options are before `--`; the words after it are the command of the container.
  const [options = '', command] = line.split(' -- ')
  const result = await k.run(`${options} -v=8${command === undefined ? '' : ` -- ${command}`}`)
  assert.equal(result.code, 0, `${line}\n${result.stderr}`)
  assert.match(result.stderr, /Content-Type: application\/vnd\.kubernetes\.protobuf/, `${line} sends no protobuf`)
  return result.stdout
}

const schedule = (line: string): string => line.replace('*/5_*_*_*_*', "'*/5 * * * *'")
const insert = (line: string, options: string): string =>
  line.includes(' -- ') ? line.replace(' -- ', ` ${options} -- `) : `${line} ${options}`

/** Sends protobuf, by default with POST. Resolves with the status and the parsed body. */
async function post(
  { client }: TestCluster,
  path: string,
  body: Buffer,
  method = 'POST',
): Promise<{ status: number; body: Answer & { message?: string } }> {
  const { ca, cert, key, url } = client
  const sent = request(new URL(path, url), {
    method,
    ca,
    cert,
    key,
    agent: false,
    headers: { 'content-type': mediaType, 'content-length': body.length },
  })
  const [response]: IncomingMessage[] = await once(sent.end(body), 'response')
  return { status: response!.statusCode ?? 0, body: JSON.parse(Buffer.concat(await response!.toArray()).toString()) }
}

describe('protobuf from kubectl', { concurrency: true }, () => {
  for (const program of installedKubectls().filter(({ minor }) => minor >= 32)) {
    test(program.version, async (t) => {
      const cluster = await testCluster(t, { controllers: apiControllers })
      const within = (namespace: string): Kubectl =>
        new Kubectl(program, cluster.kubeconfigFile, cluster.folder, namespace)
      const k = within('default')
      for (const [index, [line, path]] of Object.entries(namespaced)
        .map(([line, path]) => [schedule(line), path] as const)
        .entries()) {
        await t.test(`${program.version}: create ${line}`, async () => {
          const [sent, same] = [`protobuf-${index}`, `json-${index}`]
          for (const name of [sent, same]) await cluster.call('POST', '/api/v1/namespaces', { metadata: { name } })
          await runProtobuf(within(sent), `create ${line}`)
          const manifest = JSON.parse(await within(same).ok(`create ${insert(line, '--dry-run=client -o json')}`))
          const name = manifest.metadata.name
          await cluster.call('POST', `/${path.replace('NS', same)}?fieldManager=kubectl-create`, {
            ...manifest,
            metadata: { ...manifest.metadata, namespace: same },
          })
          const [stored, expected] = await Promise.all(
            [sent, same].map((namespace) => cluster.call('GET', `/${path.replace('NS', namespace)}/${name}`)),
          )
          const addresses = [stored!, expected!].map(({ metadata, spec }) => [
            metadata.uid,
            ...((spec as { clusterIPs?: string[] } | undefined)?.clusterIPs ?? []).filter((ip) => ip !== 'None'),
          ])
          assert.deepEqual(content(stored!, ...addresses[0]!), content(expected!, ...addresses[1]!))
        })
      }
      for (const [index, [line, path]] of Object.entries(clusterScoped).entries()) {
        await t.test(`${program.version}: create ${line}`, async () => {
          const [sent, same] = [`protobuf-kind-${index}`, `json-kind-${index}`]
          await runProtobuf(k, `create ${line.replace('NAME', sent)}`)
          const manifest = await k.ok(`create ${line.replace('NAME', same)} --dry-run=client -o json`)
          await cluster.call('POST', `/${path}?fieldManager=kubectl-create`, JSON.parse(manifest))
          const [stored, expected] = await Promise.all(
            [sent, same].map((name) => cluster.call('GET', `/${path}/${name}`)),
          )
          assert.deepEqual(content(stored!), content(expected!))
        })
      }
      await t.test(`${program.version}: a whole pod, copied by kubectl debug`, async () => {
        await cluster
          .call('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } })
          .catch(() => {})
        const original = await cluster.call('POST', '/api/v1/namespaces/default/pods', pod)
        await runProtobuf(
          k,
          'debug original --copy-to=copy --same-node --set-image=main=nginx --share-processes=false ' +
            '--keep-liveness --keep-readiness --keep-startup --keep-annotations --keep-init-containers',
        )
        const copy = await cluster.call('GET', '/api/v1/namespaces/default/pods/copy')
        const { shareProcessNamespace: _ours, ...spec } = copy.spec as Record<string, unknown>
        const { shareProcessNamespace: _theirs, ...expected } = original.spec as Record<string, unknown>
        assert.deepEqual(spec, expected)
        assert.deepEqual(copy.metadata.annotations, { note: 'x' })
      })
      await t.test(`${program.version}: reviews and roles that are brought into line`, async () => {
        assert.match(await runProtobuf(k, 'auth can-i get pods'), /^yes/)
        const role = {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'ClusterRole',
          metadata: { name: 'reconciled' },
          rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
        }
        assert.equal((await k.run('auth reconcile -f -', { input: JSON.stringify(role) })).code, 0)
        role.rules[0]!.verbs.push('list')
        const { code, stderr } = await k.run('auth reconcile -v=8 -f -', { input: JSON.stringify(role) })
        assert.equal(code, 0, stderr)
        assert.match(stderr, /"?PUT/)
        const { rules } = await cluster.call('GET', '/apis/rbac.authorization.k8s.io/v1/clusterroles/reconciled')
        assert.deepEqual(rules, [
          { apiGroups: [''], resources: ['pods'], verbs: ['get'] },
          { apiGroups: [''], resources: ['pods'], verbs: ['list'] },
        ])
      })
    })
  }
})

describe('a body in protobuf', () => {
  test('is rejected if it is not protobuf, broken or of another kind', async (t) => {
    const cluster = await testCluster(t, { controllers: apiControllers })
    const message = async (body: Buffer): Promise<string> => {
      const { status, body: answer } = await post(cluster, '/api/v1/namespaces/default/configmaps', body)
      return `${status} ${answer.message}`
    }
    const data = field(2, [field(1, 'a'), field(2, '1')])
    const configMap = envelope('v1', 'ConfigMap', [field(1, [field(1, 'made')]), data])
    assert.equal(
      await message(Buffer.from('{"kind":"ConfigMap"}')),
      '400 the object provided is unrecognized (must be of type ConfigMap): provided data does not appear to be ' +
        'a protobuf message, expected prefix [107 56 115 0] ({"kind":"ConfigMap"})',
    )
    assert.equal(
      await message(configMap.subarray(0, 9)),
      '400 the object provided is unrecognized (must be of type ConfigMap): unexpected EOF (6b3873000a0f0a0276)',
    )
    assert.equal(
      await message(envelope('v1', 'ConfigMap', [number(2, 1)])),
      '400 ConfigMap in version "v1" cannot be handled as a ConfigMap: proto: wrong wireType = 0 for field Data',
    )
    assert.equal(
      await message(envelope('v1', 'Secret', [])),
      '400 Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): ' +
        'unknown conversion',
    )
    const { status, body } = await post(cluster, '/api/v1/namespaces/default/configmaps', configMap)
    assert.equal(status, 201)
    assert.deepEqual(body.data, { a: '1' })
  })

  test('may have the options of a DELETE', async (t) => {
    const cluster = await testCluster(t, { controllers: apiControllers })
    await cluster.call('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: 'kept' } })
    const path = '/api/v1/namespaces/default/configmaps/kept'
    const options = (uid: string): Buffer => envelope('v1', 'DeleteOptions', [field(2, [field(1, uid)])])
    assert.equal((await post(cluster, path, options('another'), 'DELETE')).status, 409)
    const { metadata } = await cluster.call('GET', path)
    assert.equal((await post(cluster, path, options(metadata.uid), 'DELETE')).status, 200)
    await assert.rejects(cluster.call('GET', path), /404/)
  })
})
