/** Reading objects: every output format, selection, sorting, paging, watching. */
import assert from 'node:assert/strict'
import type { Kubectl } from '../../support/kubectl.ts'
import { waitFor } from '../../support/wait-for.ts'
import { configMap, deployment, pod } from './manifests.ts'
import { make, type Stops } from './stop.ts'

const items = (...documents: readonly string[]) => ({ input: documents.join('---\n') })

/** Creates three config maps, whose orders by name, size and colour differ. */
const makeThree = (k: Kubectl) =>
  k.ok(
    'create -f -',
    undefined,
    items(
      configMap('a', { size: '2' }, { tier: 'x' }),
      configMap('b', { size: '3' }, { tier: 'y' }),
      configMap('c', { size: '1' }, { tier: 'x' }),
    ),
  )

export const getStops: Stops = {
  'get prints tables, narrow and wide': async (k, cluster) => {
    await make(k, cluster, pod('web'), deployment('shop'))
    assert.match(await k.ok('get pods'), /^NAME +READY +STATUS +RESTARTS +AGE\nweb +0\/1 +Pending +0 +\d+s\n$/)
    assert.match(
      await k.ok('get pods -o wide'),
      new RegExp(
        '^NAME +READY +STATUS +RESTARTS +AGE +IP +NODE +NOMINATED NODE +READINESS GATES' +
          String.raw`\nweb +0/1 +Pending +0 +\d+s +<none> +<none> +<none> +<none>\n$`,
      ),
    )
    assert.match(await k.ok('get pod web --show-labels --no-headers'), /^web +0\/1 +Pending +0 +\d+s +app=web\n$/)
    assert.match(await k.ok('get pods -L app'), /^NAME .* APP\nweb .* web\n$/)
    assert.match(
      await k.ok('get deployments -o wide'),
      new RegExp(
        String.raw`^NAME +READY +UP-TO-DATE +AVAILABLE +AGE +CONTAINERS +IMAGES +SELECTOR\n` +
          String.raw`shop +0/2 +0 +0 +\d+s +main +registry\.example/app:1 +app=shop\n$`,
      ),
    )
    assert.match(
      await k.ok('get pod/web deployment/shop'),
      /^NAME [\s\S]*pod\/web [\s\S]*\n\nNAME [\s\S]*deployment\.apps\/shop /,
    )
    assert.match(await k.ok('get pods --server-print=false'), /^NAME +AGE\nweb +\d+s\n$/)
    assert.match(await k.ok('get all'), /^NAME [\s\S]*\npod\/web [\s\S]*\n\nNAME [\s\S]*\ndeployment\.apps\/shop /)
    await k.ok('get secrets', '')
    assert.equal((await k.run('get secrets')).stderr, `No resources found in ${k.namespace} namespace.\n`)
    assert.match(await k.ok('get pods -A --no-headers'), new RegExp(`^${k.namespace} +web +0/1 +Pending`, 'm'))
  },

  'get prints objects in every format': async (k) => {
    await makeThree(k)
    assert.match(
      await k.ok('get cm a -o yaml'),
      new RegExp(
        String.raw`^apiVersion: v1\ndata:\n {2}size: "2"\nkind: ConfigMap\n` +
          String.raw`metadata:\n {2}creationTimestamp: "\d{4}-[^"]+Z"\n` +
          String.raw` {2}labels:\n {4}tier: x\n[\s\S]* {2}name: a\n {2}namespace: `,
      ),
    )
    const list = (await k.json('get cm')) as { kind: string; items: { metadata: { name: string }; kind: string }[] }
    assert.deepEqual(
      [list.kind, ...list.items.map((item) => `${item.kind} ${item.metadata.name}`)],
      ['List', 'ConfigMap a', 'ConfigMap b', 'ConfigMap c'],
    )
    await k.ok('get cm -o name', 'configmap/a\nconfigmap/b\nconfigmap/c\n')
    await k.ok('get cm a b -o name', 'configmap/a\nconfigmap/b\n')
    await k.ok(`get cm -o 'jsonpath={range .items[*]}{.metadata.name}={.data.size} {end}'`, 'a=2 b=3 c=1 ')
    await k.ok(`get cm -o 'jsonpath={.items[?(@.data.size=="3")].metadata.name}'`, 'b')
    await k.ok('get cm -o custom-columns=N:.metadata.name,SIZE:.data.size', /^N +SIZE\na +2\nb +3\nc +1\n$/)
    await k.ok(`get cm -o 'go-template={{range .items}}{{.metadata.name}},{{end}}'`, 'a,b,c,')
    await k.ok('get cm a -o jsonpath={.missing}', '')
    await k.fails('get cm a missing -o name', 'Error from server (NotFound): configmaps "missing" not found\n')
    await k.ok('get cm a missing --ignore-not-found -o name', 'configmap/a\n')
    const shown = k.program.minor >= 21 ? '--show-managed-fields' : ''
    await k.ok(`get cm a -o yaml ${shown}`, /managedFields:\n[\s\S]*manager: kubectl-create\n/)
  },

  'get selects, sorts and pages': async (k, cluster) => {
    await makeThree(k)
    await k.ok('get cm -l tier=x -o name', 'configmap/a\nconfigmap/c\n')
    await k.ok(`get cm -l 'tier in (y,z)' -o name`, 'configmap/b\n')
    await k.ok('get cm -l tier!=x,tier -o name', 'configmap/b\n')
    await k.ok('get cm --field-selector metadata.name=b -o name', 'configmap/b\n')
    await k.ok('get cm --field-selector metadata.name!=b -o name', 'configmap/a\nconfigmap/c\n')
    await k.fails(
      'get cm --field-selector data.size=1',
      new RegExp(
        String.raw`^Error from server \(BadRequest\): Unable to find "/v1, Resource=configmaps" ` +
          String.raw`that match label selector "", field selector "data\.size=1"`,
      ),
    )
    await k.fails(`get cm -l 'a in'`, /unable to parse requirement|found '', expected: '\('/)
    await k.ok('get cm --sort-by=.data.size -o name', 'configmap/c\nconfigmap/a\nconfigmap/b\n')
    assert.match(
      await k.ok('get cm --sort-by=.metadata.name'),
      /^NAME +DATA +AGE\na +1 +\d+s\nb +1 +\d+s\nc +1 +\d+s\n$/,
    )
    await k.ok('get cm --chunk-size=1 -o name', 'configmap/a\nconfigmap/b\nconfigmap/c\n')
    assert.equal((await k.ok('get cm --chunk-size=2 --no-headers')).split('\n').length, 4)
    await make(k, cluster, pod('web'))
    await k.ok('get pods --field-selector status.phase=Pending,spec.nodeName= -o name', 'pod/web\n')
    await k.ok('get pods --field-selector status.phase=Running -o name', '')
  },

  'get -w shows changes as they happen': async (k, cluster) => {
    await make(k, cluster, configMap('first', { a: '1' }))
    const watching = k.spawn('get cm -w -o jsonpath={.metadata.name}:{.data.a}{"\\n"}')
    const rows = k.spawn('get cm -w --output-watch-events --no-headers')
    try {
      const output = { watching: '', rows: '' }
      watching.stdout?.on('data', (text) => (output.watching += text))
      rows.stdout?.on('data', (text) => (output.rows += text))
      await waitFor(
        'the watches show the existing objects',
        () => output.watching.includes('first:1') && output.rows.includes('first'),
      )
      const path = `/api/v1/namespaces/${k.namespace}/configmaps`
      await cluster.call('POST', path, { metadata: { name: 'second' }, data: { a: '2', b: '' } })
      await cluster.call('PATCH', `${path}/first`, { data: { a: '3' } }, 'application/merge-patch+json')
      await cluster.call('DELETE', `${path}/second`)
      await waitFor(
        'the watches show the changes',
        () => /DELETED/.test(output.rows) && output.watching.split('\n').length >= 5,
      )
      assert.equal(output.watching, 'first:1\nsecond:2\nfirst:3\nsecond:2\n')
      assert.match(
        output.rows,
        /^ADDED +first +1 +\d+s\nADDED +second +2 +\d+s\nMODIFIED +first +1 +\d+s\nDELETED +second +2 +\d+s\n$/,
      )
    } finally {
      watching.kill()
      rows.kill()
    }
  },
}
