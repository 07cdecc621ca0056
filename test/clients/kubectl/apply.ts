/** Declarative changes: apply by the client and by the server, diff, replace, edit. */
import assert from 'node:assert/strict'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { configMap, deployment, pod } from './manifests.ts'
import { make, type Stops } from './stop.ts'

const editor = (folder: string, name: string, sed: string): { env: Record<string, string> } => {
  const path = join(folder, name)
  writeFileSync(path, `#!/bin/sh\nexec sed -i '${sed}' "$1"\n`)
  chmodSync(path, 0o755)
  return { env: { KUBE_EDITOR: path } }
}

export const applyStops: Stops = {
  'apply creates, leaves unchanged and changes': async (k) => {
    const service = (port: number) => `apiVersion: v1
kind: Service
metadata: { name: web }
spec: { selector: { app: web }, ports: [{ port: ${port} }] }
`
    const both = (image: string, port: number) => ({ input: `${deployment('web', 2, image)}---\n${service(port)}` })
    await k.ok('apply -f -', 'deployment.apps/web created\nservice/web created\n', both('app:1', 80))
    await k.ok('apply -f -', 'deployment.apps/web unchanged\nservice/web unchanged\n', both('app:1', 80))
    await k.ok('apply -f -', 'deployment.apps/web configured\nservice/web unchanged\n', both('app:2', 80))
    await k.ok('apply -f -', 'deployment.apps/web unchanged\nservice/web configured\n', both('app:2', 81))
    await k.ok(
      'get deployment web -o jsonpath={.spec.template.spec.containers[0].image},{.metadata.generation}',
      'app:2,2',
    )
    await k.ok('get service web -o jsonpath={.spec.ports[*].port}', '81')
    await k.ok(
      'apply -f - --dry-run=server',
      'deployment.apps/web configured (server dry run)\nservice/web configured (server dry run)\n',
      both('app:3', 82),
    )
    await k.ok('apply -f - --dry-run=client', /^deployment\.apps\/web configured \(dry run\)\n/, both('app:3', 82))
    await k.ok('get service web -o jsonpath={.spec.ports[*].port}', '81')
  },

  'apply removes fields that left the file and retains those of others': async (k) => {
    await k.ok('apply -f -', 'configmap/settings created\n', { input: configMap('settings', { a: '1', b: '2' }) })
    await k.ok(`patch cm settings --type=merge -p '{"data":{"theirs":"yes"}}'`, 'configmap/settings patched\n')
    await k.ok('apply -f -', 'configmap/settings configured\n', { input: configMap('settings', { a: '1' }) })
    await k.ok('get cm settings -o jsonpath={.data}', '{"a":"1","theirs":"yes"}')
    assert.match(await k.ok('apply view-last-applied cm/settings'), /data:\n {2}a: "1"\n/)
    await k.ok('create configmap plain --from-literal=a=b')
    const adopted = await k.run('apply -f -', { input: configMap('plain', { a: 'c' }) })
    assert.match(
      adopted.stderr,
      /resource configmaps\/plain is missing the kubectl\.kubernetes\.io\/last-applied-configuration annotation/,
    )
    assert.equal(adopted.stdout, 'configmap/plain configured\n')
    await k.ok('apply set-last-applied -f -', /configured\n$/, { input: configMap('plain', { a: 'd' }) })
  },

  'apply prunes objects that a selection no longer has': async (k) => {
    const labelled = (name: string) => configMap(name, { a: '1' }, { part: 'shop' })
    await k.ok('apply -f -', undefined, { input: `${labelled('kept')}---\n${labelled('gone')}` })
    const allowed = k.program.minor >= 26 ? '--prune-allowlist' : '--prune-whitelist'
    assert.match(
      await k.ok(`apply -f - --prune -l part=shop ${allowed}=core/v1/ConfigMap`, undefined, {
        input: labelled('kept'),
      }),
      /^configmap\/kept unchanged\nconfigmap\/gone pruned\n$/,
    )
    await k.ok('get cm -l part=shop -o name', 'configmap/kept\n')
  },

  'server-side apply owns fields and reports conflicts': async (k) => {
    await k.ok('apply --server-side -f -', 'deployment.apps/web serverside-applied\n', { input: deployment('web', 2) })
    await k.ok('apply --server-side -f -', 'deployment.apps/web serverside-applied\n', { input: deployment('web', 2) })
    await k.ok('scale deployment web --replicas=5', /^deployment\.apps\/web scaled\n$/)
    const refused = await k.fails(
      'apply --server-side -f -',
      new RegExp(
        String.raw`Apply failed with 1 conflict: conflict with "kubectl[.\d]*" ` +
          String.raw`with subresource "scale" using apps/v1: \.spec\.replicas`,
      ),
      {
        input: deployment('web', 3),
      },
    )
    assert.match(refused.stderr, /--force-conflicts/)
    await k.ok('apply --server-side --force-conflicts -f -', 'deployment.apps/web serverside-applied\n', {
      input: deployment('web', 3),
    })
    await k.ok('get deployment web -o jsonpath={.spec.replicas}', '3')
    await k.ok('apply --server-side --field-manager=other -f -', 'configmap/settings serverside-applied\n', {
      input: configMap('settings', { a: '1', b: '2' }),
    })
    await k.ok('apply --server-side --field-manager=other -f -', 'configmap/settings serverside-applied\n', {
      input: configMap('settings', { a: '1' }),
    })
    await k.ok('get cm settings -o jsonpath={.data}', '{"a":"1"}')
    await k.ok('apply --server-side --dry-run=server -f -', 'configmap/dry serverside-applied (server dry run)\n', {
      input: configMap('dry', {}),
    })
  },

  'objects migrate from client-side to server-side apply': async (k) => {
    await k.ok('apply -f -', 'deployment.apps/web created\n', { input: deployment('web', 2) })
    await k.ok('apply --server-side -f -', 'deployment.apps/web serverside-applied\n', { input: deployment('web', 3) })
    await k.ok('get deployment web -o jsonpath={.spec.replicas}', '3')
  },

  'diff shows what apply would change': async (k) => {
    await k.ok('apply -f -', undefined, { input: configMap('settings', { a: '1' }) })
    await k.ok('diff -f -', '', { input: configMap('settings', { a: '1' }) })
    for (const flag of ['', '--server-side --force-conflicts']) {
      const { code, stdout } = await k.run(`diff ${flag} -f -`, { input: configMap('settings', { a: '2' }) })
      assert.equal(code, 1, stdout)
      assert.match(stdout, /\n-.* a: "1"\n\+.* a: "2"\n/)
    }
  },

  'replace replaces an object': async (k, cluster) => {
    await k.fails('replace -f -', /configmaps "settings" not found\n$/, { input: configMap('settings', { a: '1' }) })
    await make(k, cluster, configMap('settings', { a: '1', b: '2' }))
    await k.ok('replace -f -', 'configmap/settings replaced\n', { input: configMap('settings', { c: '3' }) })
    await k.ok('get cm settings -o jsonpath={.data}', '{"c":"3"}')
    const stale = (await k.ok('get cm settings -o yaml')).replace(/resourceVersion: ".*"/, 'resourceVersion: "1"')
    await k.fails(
      'replace -f -',
      new RegExp(
        'Operation cannot be fulfilled on configmaps "settings": the object has been ' +
          String.raw`modified; please apply your changes to the latest version and try again\n$`,
      ),
      {
        input: stale,
      },
    )
    await make(k, cluster, pod('web'))
    await k.fails('replace -f -', /pod updates may not change fields other than/, {
      input: pod('web').replace('cpu: 100m', 'cpu: 200m'),
    })
    await k.ok('replace --force -f -', 'pod "web" deleted\npod/web replaced\n', {
      input: pod('web').replace('cpu: 100m', 'cpu: 200m'),
    })
    await k.ok('get pod web -o jsonpath={.spec.containers[0].resources.requests.cpu}', '200m')
  },

  'edit sends the content of the editor': async (k, cluster) => {
    await k.ok('create configmap settings --from-literal=colour=blue')
    await k.ok(
      'edit cm settings',
      'configmap/settings edited\n',
      editor(cluster.folder, `${k.namespace}-green`, 's/blue/green/'),
    )
    await k.ok('get cm settings -o jsonpath={.data.colour}', 'green')
    const unchanged = await k.run(
      'edit cm settings',
      editor(cluster.folder, `${k.namespace}-same`, 's/nothing/nothing/'),
    )
    assert.deepEqual(unchanged, { code: 0, stdout: '', stderr: 'Edit cancelled, no changes made.\n' })
    await make(k, cluster, deployment('web'))
    await k.ok(
      'edit deployment web -o json',
      /"replicas": 4/,
      editor(cluster.folder, `${k.namespace}-scale`, 's/"replicas": 2/"replicas": 4/'),
    )
    await k.ok('get deployment web -o jsonpath={.spec.replicas}', '4')
    await k.fails(
      'edit deployment web',
      /is invalid|are invalid|field is immutable/,
      editor(cluster.folder, `${k.namespace}-bad`, '0,/app: web/! s/app: web/app: other/'),
    )
  },
}
