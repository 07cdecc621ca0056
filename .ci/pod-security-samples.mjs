// Upstream's samples of the Pod Security Standards (../shared/manifests), each in a namespace that enforces the level and version
// it is a sample of: those under `pass` must be accepted, those under `fail` refused for what they are samples of. Validation comes
// before these checks: since 1.36 it refuses an unmasked /proc beside users of the node, so the samples of procMount end there.
//
//   node pod-security-samples.mjs --server URL --token T
import { readFileSync } from 'node:fs'
import https from 'node:https'
import { parseArgs } from 'node:util'

const { server, token } = parseArgs({ options: { server: { type: 'string' }, token: { type: 'string' } } }).values
const manifests = new URL('../../shared/manifests/kubernetes.jsonl', import.meta.url)
const agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false })
const run = Date.now().toString(36)

/** The status and the parsed body of the answer. */
function post(path, body) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return new Promise((resolve, reject) => {
    const request = https.request(new URL(path, server), { method: 'POST', agent, headers, timeout: 30_000 }, async (response) => {
      const text = Buffer.concat(await response.toArray()).toString()
      resolve({ status: response.statusCode, body: text.startsWith('{') ? JSON.parse(text) : { message: text } })
    })
    request.on('timeout', () => request.destroy(new Error('no answer in 30 s')))
    request.on('error', reject)
    request.end(JSON.stringify(body))
  })
}

const namespaces = new Map()
/** A namespace that enforces them. */
function namespaceOf(level, version) {
  const name = `pod-security-${level}-${version.replace('.', '-')}-${run}`
  const labels = { 'pod-security.kubernetes.io/enforce': level, 'pod-security.kubernetes.io/enforce-version': version }
  const make = async () => {
    await post('/api/v1/namespaces', { metadata: { name, labels } })
    // Where a controller has made it already, this is a conflict.
    await post(`/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: 'default' } })
    return name
  }
  if (!namespaces.has(name)) namespaces.set(name, make())
  return namespaces.get(name)
}

let same = 0
let all = 0
for (const line of readFileSync(manifests, 'utf8').split('\n').filter(Boolean)) {
  const { file, document } = JSON.parse(line)
  const [, level, version, outcome] = /pod-security-admission\/test\/testdata\/(\w+)\/(v[\d.]+)\/(pass|fail)\//.exec(file) ?? []
  if (!level) continue
  all++
  const namespace = await namespaceOf(level, version)
  // Some have names that no pod may have: they were made to be evaluated alone.
  const pod = { ...document, metadata: { ...document.metadata, namespace, name: document.metadata.name.replaceAll('_', '-') } }
  const { status, body } = await post(`/api/v1/namespaces/${namespace}/pods?dryRun=All`, pod)
  const isInvalid = status === 422 && body.message.includes('procMount: Invalid value: "Unmasked"')
  const violates = status === 403 && body.message.includes(`violates PodSecurity "${level}:${version}"`)
  if (outcome === 'pass' ? status === 201 : isInvalid || violates) same++
  else console.log(`${file}\n  ${status} ${body.message ?? ''}`)
}
console.log(`pod security samples: ${same} of ${all} agree`)
process.exit(same === all && all > 0 ? 0 : 1)
