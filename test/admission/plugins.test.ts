/** Flags that enable, disable and configure admission plug-ins. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { testCluster } from '../support/test-cluster.ts'
import { repository } from '../up/t8s-process.ts'

/** Returns the error of `t8s apiserver` when it does not start. */
function refusal(...flags: readonly string[]): string {
  const { status, stderr } = spawnSync(
    join(repository, 't8s'),
    ['apiserver', '--secure-port=0', '--bind-address=127.0.0.1', ...flags],
    {
      encoding: 'utf8',
      timeout: 60_000,
    },
  )
  assert.equal(status, 1, stderr)
  return stderr
}

function fileOf(t: TestContext, content: string): string {
  const folder = mkdtempSync(join(tmpdir(), 't8s-admission-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'admission.yaml')
  writeFileSync(file, content)
  return file
}

const configurationOf = (plugin: string, configuration: object): string =>
  JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AdmissionConfiguration',
    plugins: [{ name: plugin, configuration }],
  })

const event = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name, namespace: 'default' },
  involvedObject: { kind: 'Pod', name: 'p', namespace: 'default' },
  reason: 'Tested',
  message: 'm',
  type: 'Normal',
})

test('the error for a removed plug-in names its replacement', () => {
  const said = refusal('--enable-admission-plugins=PodSecurityPolicy,InitialResources,Nonsense')
  assert.match(
    said,
    new RegExp(
      'enable-admission-plugins plugin "PodSecurityPolicy" is unknown: Kubern' +
        String.raw`etes has dropped it in 1\.25: ` +
        String.raw`leave it out; PodSecurity \(on by default\)`,
    ),
  )
  assert.match(said, /"InitialResources" is unknown: Kubernetes has dropped it in 1\.10: leave it out; LimitRanger/)
  assert.match(said, /"Nonsense" is unknown\]/)
})

test('a server with an invalid plug-in configuration does not start', (t) => {
  const file = fileOf(
    t,
    configurationOf('EventRateLimit', {
      apiVersion: 'eventratelimit.admission.k8s.io/v1alpha1',
      kind: 'Configuration',
    }),
  )
  const said = refusal('--enable-admission-plugins=EventRateLimit', `--admission-control-config-file=${file}`)
  assert.match(
    said,
    /failed to initialize admission: couldn't init admission plugin "EventRateLimit": limits: .*must be non-empty/,
  )
  assert.match(
    refusal('--admission-control-config-file=/no/such/file'),
    /unable to read admission control configuration from "\/no\/such\/file" \[no such file or directory\]/,
  )
})

test('the configuration file configures plug-ins', async (t) => {
  const limits = [{ type: 'Namespace', qps: 1, burst: 2 }]
  const file = fileOf(
    t,
    configurationOf('EventRateLimit', {
      apiVersion: 'eventratelimit.admission.k8s.io/v1alpha1',
      kind: 'Configuration',
      limits,
    }),
  )
  const cluster = await testCluster(t, {
    apiServerFlags: ['--enable-admission-plugins=EventRateLimit', `--admission-control-config-file=${file}`],
  })
  const send = (name: string) => cluster.call('POST', '/api/v1/namespaces/default/events', event(name))
  await assert.rejects(
    Promise.all(['a', 'b', 'c', 'd'].map(send)),
    /429 .*Too many requests: limit reached on type Namespace for key default/,
  )
})

test('flags enable and disable plug-ins', async (t) => {
  const logged: string[] = []
  const cluster = await testCluster(t, {
    log: (line) => logged.push(line),
    apiServerFlags: [
      '--enable-admission-plugins=NamespaceAutoProvision,AlwaysAdmit',
      '--disable-admission-plugins=StorageObjectInUseProtection',
    ],
  })
  const claim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'c' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  }
  const made = await cluster.call('POST', '/api/v1/namespaces/new/persistentvolumeclaims', claim)
  assert.equal(made.metadata.finalizers, undefined)
  assert.equal((await cluster.call('GET', '/api/v1/namespaces/new')).metadata.name, 'new')
  assert.ok(
    logged.some((line) => line.startsWith('AlwaysAdmit admission controller is deprecated.')),
    logged.join('\n'),
  )
})

test('AlwaysDeny rejects all writes except the server’s own', async (t) => {
  const cluster = await testCluster(t, { apiServerFlags: ['--enable-admission-plugins=AlwaysDeny'] })
  const write = cluster.call('POST', '/api/v1/namespaces/default/configmaps', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'c' },
  })
  await assert.rejects(write, /403 .*configmaps \\"c\\" is forbidden: admission control is denying all modifications/)
  assert.equal((await cluster.call('GET', '/api/v1/namespaces/default')).metadata.name, 'default')
})
