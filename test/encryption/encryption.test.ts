/** Encryption at rest: data on the disk is unreadable without the keys. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startCluster } from '../../src/cluster/start-cluster.ts'
import { installedKubectls, Kubectl } from '../support/kubectl.ts'
import { reachable } from '../support/reachable-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { temporaryFolder } from '../up/t8s-process.ts'
import { KmsPlugin } from './kms-plugin.ts'

const secrets = '/api/v1/namespaces/default/secrets'
const password = 'correct-horse-battery-staple'
const secret = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name },
  data: { password: Buffer.from(password).toString('base64') },
})

const newKey = (): string => randomBytes(32).toString('base64')
const keyed = (provider: string, name: string, key: string): string =>
  `{${provider}: {keys: [{name: ${name}, secret: ${key}}]}}`
const configuration = (providers: readonly string[], resources = 'secrets'): string =>
  'apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources: [{resources: ' +
  `[${resources}], providers: [${providers.join(', ')}]}]\n`

/** Starts a cluster on the same directory with different configurations. */
function encrypted(t: TestContext) {
  const folder = temporaryFolder(t)
  const file = join(folder, 'encryption.yaml')
  const directory = join(folder, 'data')
  const write = (text: string): void => writeFileSync(file, text, { mode: 0o600 })
  return {
    folder,
    write,
    async start(text: string, ...flags: string[]) {
      write(text)
      const logged: string[] = []
      const cluster = await startCluster({
        storage: { directory },
        apiServerFlags: [`--encryption-provider-config=${file}`, ...flags],
        log: (line) => logged.push(line),
      })
      let stopped = false
      const stop = async (): Promise<void> => {
        if (!stopped) await cluster.stop()
        stopped = true
      }
      t.after(stop)
      return { ...reachable(t, cluster), stop, logged }
    },
    /** Returns true if the data files contain a text. */
    holds: (text: string): boolean =>
      readdirSync(join(directory, 'store'), { recursive: true, encoding: 'utf8' })
        .map((name) => join(directory, 'store', name))
        .some((path) => statSync(path).isFile() && readFileSync(path).includes(text)),
  }
}

const encodedPassword = Buffer.from(password).toString('base64')

test('secrets are encrypted on the disk with any provider; other kinds are not', async (t) => {
  for (const provider of ['aescbc', 'aesgcm', 'secretbox']) {
    const { start, holds } = encrypted(t)
    const cluster = await start(configuration([keyed(provider, 'k1', newKey()), '{identity: {}}']))
    await cluster.call('POST', secrets, secret('s'))
    await cluster.call('POST', '/api/v1/namespaces/default/configmaps', {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'c' },
      data: { open: 'for-everybody' },
    })
    assert.deepEqual((await cluster.call('GET', `${secrets}/s`)).data, { password: encodedPassword })
    await cluster.stop()
    assert.equal(holds(encodedPassword), false)
    assert.equal(holds('for-everybody'), true)
    assert.equal(holds(`k8s:enc:${provider}:v1:k1:`), true)
  }
})

test('keys are rotated as documented: add a new first key, rewrite all, remove the old key', async (t) => {
  const { start } = encrypted(t)
  const [old, next] = [keyed('aescbc', 'old', newKey()), keyed('secretbox', 'next', newKey())]
  let cluster = await start(configuration(['{identity: {}}']))
  await cluster.call('POST', secrets, secret('plain'))
  await cluster.stop()
  cluster = await start(configuration([old, '{identity: {}}']))
  await cluster.call('POST', secrets, secret('coded'))
  await cluster.stop()

  cluster = await start(configuration([next, old, '{identity: {}}']))
  const kubectl = new Kubectl(installedKubectls().at(-1)!, cluster.kubeconfigFile, cluster.folder)
  const all = await kubectl.run('get secrets -o json')
  assert.equal(all.code, 0, all.stderr)
  const replaced = await kubectl.run('replace -f -', { input: all.stdout })
  assert.equal(replaced.code, 0, replaced.stderr)
  await cluster.stop()

  cluster = await start(configuration([next]))
  for (const name of ['plain', 'coded'])
    assert.deepEqual((await cluster.call('GET', `${secrets}/${name}`)).data, { password: encodedPassword })
})

test('reading a secret without its key is an error', async (t) => {
  const { start } = encrypted(t)
  let cluster = await start(configuration([keyed('aesgcm', 'k', newKey())]))
  await cluster.call('POST', secrets, secret('s'))
  await cluster.stop()
  cluster = await start(configuration([keyed('aesgcm', 'other', newKey())]))
  await assert.rejects(
    cluster.call('GET', `${secrets}/s`),
    /500.*no matching key was found for the provided AES transformer/,
  )
  await cluster.call('GET', '/api/v1/namespaces/default')
})

test('custom resources are encrypted if their group is configured', async (t) => {
  const { start, holds } = encrypted(t)
  const cluster = await start(configuration([keyed('secretbox', 'k', newKey())], '"*.example.com"'))
  const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  await cluster.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'vaults.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { kind: 'Vault', plural: 'vaults' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  })
  const vault = { apiVersion: 'example.com/v1', kind: 'Vault', metadata: { name: 'v' }, spec: { password } }
  await waitFor('vaults to be served', () =>
    cluster.call('POST', '/apis/example.com/v1/namespaces/default/vaults', vault).catch(() => undefined),
  )
  await cluster.stop()
  assert.equal(holds(password), false)
})

test('a reloaded configuration file takes effect if it is valid', async (t) => {
  const { start, write, holds } = encrypted(t)
  const cluster = await start(configuration(['{identity: {}}']), '--encryption-provider-config-automatic-reload')
  await cluster.call('POST', secrets, secret('s'))
  write('nonsense')
  await waitFor('the fault to be logged', () => cluster.logged.some((line) => line.includes('cannot reload')))
  write(configuration([keyed('aesgcm', 'k', newKey()), '{identity: {}}']))
  await waitFor('the change to be logged', () =>
    cluster.logged.some((line) => line.includes('new values are encrypted by it')),
  )
  const stored = await cluster.call('GET', `${secrets}/s`)
  // The object is unchanged, but it is written because its stored form is stale.
  const { metadata } = await cluster.call('PUT', `${secrets}/s`, stored)
  assert.notEqual(metadata.resourceVersion, stored.metadata.resourceVersion)
  assert.equal(holds('k8s:enc:aesgcm:v1:k:'), true)
  assert.equal(
    (await cluster.call('PUT', `${secrets}/s`, await cluster.call('GET', `${secrets}/s`))).metadata.resourceVersion,
    metadata.resourceVersion,
  )
})

test('a configuration with a KMS plugin takes effect once the plugin is healthy; metrics count both', async (t) => {
  const { start, folder, write, holds } = encrypted(t)
  const plugin = await KmsPlugin.start(t, join(folder, 'kms.sock'))
  plugin.healthz = 'not yet'
  const cluster = await start(configuration(['{identity: {}}']), '--encryption-provider-config-automatic-reload')
  await cluster.call('POST', secrets, secret('before'))
  write(configuration([`{kms: {apiVersion: v2, name: keys, endpoint: "${plugin.endpoint}"}}`, '{identity: {}}']))
  await waitFor('the plugin to be called', () => plugin.calls.status > 0)
  plugin.healthz = 'ok'
  await waitFor('the change to be logged', () =>
    cluster.logged.some((line) => line.includes('new values are encrypted by it')),
  )
  await cluster.call('POST', secrets, secret('after'))
  assert.equal(holds('k8s:enc:kms:v2:keys:'), true)
  const { stdout: metrics } = await new Kubectl(
    installedKubectls().at(-1)!,
    cluster.kubeconfigFile,
    cluster.folder,
  ).run('get --raw /metrics')
  for (const line of [
    new RegExp(
      String.raw`^apiserver_encryption_config_controller_automatic_reloads_total\{apiserver_id_hash="sha256:\w+",` +
        String.raw`status="success"\} 1$`,
      'm',
    ),
    /^apiserver_encryption_config_controller_last_config_info\{apiserver_id_hash="sha256:\w+",hash="sha256:\w+"\} 1$/m,
    new RegExp(
      String.raw`^apiserver_storage_transformation_operations_total\{status="OK",` +
        String.raw`transformation_type="to_storage",transformer_prefix="k8s:enc:kms:v2:keys:"\} [1-9]`,
      'm',
    ),
    new RegExp(
      String.raw`^apiserver_envelope_encryption_kms_operations_latency_seconds_count\{grpc_status_code="OK",` +
        String.raw`method_name="/v2.KeyManagementService/Encrypt",provider_name="keys"\} 1$`,
      'm',
    ),
    new RegExp(
      String.raw`^apiserver_envelope_encryption_key_id_hash_total\{.*provider_name="keys",` +
        String.raw`transformation_type="to_storage"\} [1-9]`,
      'm',
    ),
    /^apiserver_envelope_encryption_key_id_hash_status_last_timestamp_seconds\{.*provider_name="keys"\} /m,
    /^apiserver_envelope_encryption_dek_source_cache_size\{provider_name="keys"\} 1$/m,
  ])
    assert.match(metrics, line)
})

test('a KMS plugin is called for the seed, not for every secret, and once by another server', async (t) => {
  const { start, folder, holds } = encrypted(t)
  const plugin = await KmsPlugin.start(t, join(folder, 'kms.sock'))
  const text = configuration([`{kms: {apiVersion: v2, name: keys, endpoint: "${plugin.endpoint}"}}`])
  let cluster = await start(text)
  for (let i = 0; i < 20; i++) await cluster.call('POST', secrets, secret(`s${i}`))
  assert.deepEqual({ encrypt: plugin.calls.encrypt, decrypt: plugin.calls.decrypt }, { encrypt: 1, decrypt: 0 })
  assert.equal(
    (
      await new Kubectl(installedKubectls().at(-1)!, cluster.kubeconfigFile, cluster.folder).run(
        'get --raw /healthz/kms-providers',
      )
    ).stdout,
    'ok',
  )
  await cluster.stop()
  assert.equal(holds(encodedPassword), false)
  assert.equal(holds('k8s:enc:kms:v2:keys:'), true)

  plugin.rotate()
  cluster = await start(text)
  assert.equal(((await cluster.call('GET', secrets)).items as unknown[]).length, 20)
  assert.equal(plugin.calls.decrypt, 1)
  // Objects encrypted with an older key are rewritten.
  const stored = await cluster.call('GET', `${secrets}/s1`)
  assert.notEqual(
    (await cluster.call('PUT', `${secrets}/s1`, stored)).metadata.resourceVersion,
    stored.metadata.resourceVersion,
  )
})

test('an unhealthy KMS plugin fails its health check; other resources still work', async (t) => {
  const { start, folder } = encrypted(t)
  const plugin = await KmsPlugin.start(t, join(folder, 'kms.sock'))
  plugin.healthz = 'the key manager is down'
  const cluster = await start(configuration([`{kms: {apiVersion: v2, name: keys, endpoint: "${plugin.endpoint}"}}`]))
  await assert.rejects(
    cluster.call('GET', '/healthz/kms-providers'),
    /kms-provider-0: kmsv2 Provider keys is not healthy, error: got unexpected healthz status: the key manager is down/,
  )
  await assert.rejects(cluster.call('GET', '/readyz'), /kms-providers failed/)
  assert.equal(
    (await new Kubectl(installedKubectls().at(-1)!, cluster.kubeconfigFile, cluster.folder).run('get --raw /livez'))
      .stdout,
    'ok',
  )
  await cluster.call('POST', '/api/v1/namespaces/default/configmaps', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'c' },
  })
})
