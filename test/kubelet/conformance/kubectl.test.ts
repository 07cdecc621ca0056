/** The suites of kubectl (`test/e2e/kubectl/*.go`) on a real node, with the newest installed kubectl. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { kubectlStart, kubectlSuite, type StartKubectl } from '../../conformance/suites/kubectl.ts'
import { serverCommandSuite } from '../../conformance/suites/kubectl-server.ts'
import { eventually, readyPods, stays, template } from '../../conformance/support/workloads.ts'
import { installedKubectls } from '../../support/kubectl.ts'
import { inNamespaces } from '../support/in-namespaces.ts'
import { realNodes } from '../support/real-nodes.ts'

const labelsOf = (name: string) => ({ app: 'guestbook', part: name })

await inNamespaces(import.meta.filename, () =>
  describe('kubectl on a real node', { concurrency: 8 }, () => {
    const start = kubectlStart(realNodes(), installedKubectls().at(-1)!)
    kubectlSuite(start)
    serverCommandSuite(start)
    testGuestbook(start)
  }),
)

interface Part {
  readonly name: string
  readonly replicas: number
  /** CGI scripts by name. */
  readonly scripts: Readonly<Record<string, string>>
  readonly hosts?: Readonly<Record<string, string>>
}

/** A Deployment whose pods serve CGI scripts on port 80, and a Service for it. */
function partOf({ name, replicas, scripts, hosts = {} }: Part): string {
  const files = Object.entries(scripts).map(
    ([file, script]) => `printf '%s\n' '#!/bin/sh' 'printf "\\r\\n"; ${script}' > /www/cgi-bin/${file}`,
  )
  const script = ['mkdir -p /www/cgi-bin /data', ...files, 'chmod 755 /www/cgi-bin/*', 'httpd -p 80 -h /www'].join('\n')
  const hostAliases = Object.entries(hosts).map(([hostname, ip]) => ({ ip, hostnames: [hostname] }))
  const labels = labelsOf(name)
  const items = [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, labels },
      spec: { ports: [{ port: 80 }], selector: labels },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, labels },
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: template(labels, {
          act: { ...stays, script: `${script}\n${stays.script}` },
          spec: { hostAliases },
        }),
      },
    },
  ]
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
}

function testGuestbook(start: StartKubectl): void {
  // The node has no network of Services and no DNS: names in /etc/hosts take their place between the parts.
  test('Kubectl client Guestbook application should create and stop a working application', async () => {
    const { kubectl, api, nodes } = await start()
    const addressOf = async (part: Part): Promise<string> => {
      await kubectl.ok('create -f -', /created/, { input: partOf(part) })
      const [pod] = await readyPods(api, labelsOf(part.name), part.replicas)
      return pod?.status?.podIP ?? ''
    }
    const store = { set: 'echo "$QUERY_STRING" > /data/entry; echo ok', get: 'cat /data/entry' }
    const primary = await addressOf({ name: 'agnhost-primary', replicas: 1, scripts: store })
    const copies = { get: 'wget -q -O - http://agnhost-primary/cgi-bin/get' }
    const replica = await addressOf({
      name: 'agnhost-replica',
      replicas: 2,
      scripts: copies,
      hosts: { 'agnhost-primary': primary },
    })
    await addressOf({
      name: 'frontend',
      replicas: 3,
      scripts: {
        set: 'wget -q -O - "http://agnhost-primary/cgi-bin/set?$QUERY_STRING"',
        get: 'wget -q -O - http://agnhost-replica/cgi-bin/get',
      },
      hosts: { 'agnhost-primary': primary, 'agnhost-replica': replica },
    })
    const request = (path: string) =>
      eventually(api, `an answer to ${path}`, () =>
        nodes.cluster.text(`${api.core}/services/frontend:80/proxy/cgi-bin/${path}`),
      )
    assert.equal(await request('set?TestEntry'), 'ok\n')
    assert.equal(await request('get'), 'TestEntry\n')
    await kubectl.ok('delete deployment,service -l app=guestbook', /deleted/)
    await readyPods(api, { app: 'guestbook' }, 0)
  })
}
