/** Creating objects: from files, from stdin, and with the generators of `kubectl create`, `run` and `expose`. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { configMap, deployment, pod } from './manifests.ts'
import { apiPath, type Stops } from './stop.ts'

export const createStops: Stops = {
  'create takes files, folders, stdin and lists': async (k, { folder }) => {
    writeFileSync(join(folder, 'two.yaml'), `${configMap('one', { a: '1' })}---\n${configMap('two', { b: '2' })}`)
    await k.ok(`create -f ${folder}/two.yaml`, 'configmap/one created\nconfigmap/two created\n')
    await k.ok('create -f - -o name', 'pod/web\n', { input: pod('web') })
    const list = {
      apiVersion: 'v1',
      kind: 'List',
      items: ['three', 'four'].map((name) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })),
    }
    await k.ok('create -f -', 'configmap/three created\nconfigmap/four created\n', { input: JSON.stringify(list) })
    await k.fails(
      `create -f ${folder}/two.yaml`,
      /^Error from server \(AlreadyExists\): error when creating "[^"]*two\.yaml": configmaps "one" already exists\n/,
    )
  },

  'create creates core objects from flags': async (k, { folder }) => {
    await k.ok(
      'create configmap settings --from-literal=colour=blue --from-literal=size=9',
      'configmap/settings created\n',
    )
    await k.ok(`get cm settings -o jsonpath={.data}`, '{"colour":"blue","size":"9"}')
    writeFileSync(join(folder, 'motd'), 'hello\n')
    await k.ok(`create configmap files --from-file=${folder}/motd`, 'configmap/files created\n')
    await k.ok('get cm files -o jsonpath={.data.motd}', 'hello\n')
    await k.ok('create secret generic login --from-literal=password=s3cret', 'secret/login created\n')
    await k.ok('get secret login -o jsonpath={.data.password},{.type}', 'czNjcmV0,Opaque')
    await k.ok(
      'create secret docker-registry pull --docker-server=registry.example --docker-username=u ' +
        '--docker-password=p --docker-email=e@example.com',
      'secret/pull created\n',
    )
    await k.ok('create serviceaccount robot', 'serviceaccount/robot created\n')
    await k.ok('create quota small --hard=pods=2,cpu=1', 'resourcequota/small created\n')
    await k.ok(`create namespace ${k.namespace}-made`, `namespace/${k.namespace}-made created\n`)
    await k.ok('create service clusterip web --tcp=80:8080', 'service/web created\n')
    await k.ok('create service nodeport outside --tcp=80:8080', 'service/outside created\n')
    await k.ok('create service loadbalancer balanced --tcp=80:8080', 'service/balanced created\n')
    await k.ok('create service externalname elsewhere --external-name example.com', 'service/elsewhere created\n')
    assert.match(
      await k.ok('get service elsewhere --no-headers'),
      /^elsewhere +ExternalName +<none> +example\.com +<none> +\d+s\n$/,
    )
  },

  'create creates workloads from flags': async (k) => {
    await k.ok('create deployment web --image=registry.example/app:1', 'deployment.apps/web created\n')
    await k.ok(
      'get deployment web -o jsonpath={.spec.replicas},{.spec.strategy.type},{.spec.template.spec.containers[*].name}',
      '1,RollingUpdate,app',
    )
    await k.ok('expose deployment web --port=80 --target-port=8080', 'service/web exposed\n')
    await k.ok('create job once --image=registry.example/app:1 -- do it', 'job.batch/once created\n')
    await k.ok(
      'get job once -o jsonpath={.spec.template.spec.containers[0].command},{.spec.backoffLimit}',
      '["do","it"],6',
    )
    await k.ok('run shell --image=registry.example/app:1 --restart=Never --labels=app=shell', 'pod/shell created\n')
    await k.ok(
      'create priorityclass high --value=10 --dry-run=server',
      /^priorityclass\.scheduling\.k8s\.io\/high created \(server dry run\)\n$/,
    )
    // 1.20 knows only the beta versions of these, which 1.36 no longer serves.
    if (k.program.minor >= 21) {
      await k.ok(
        `create cronjob nightly --image=registry.example/app:1 --schedule='0 3 * * *'`,
        'cronjob.batch/nightly created\n',
      )
      await k.ok('create job from-cron --from=cronjob/nightly', 'job.batch/from-cron created\n')
      await k.ok('get job from-cron -o jsonpath={.metadata.ownerReferences[0].kind}', 'CronJob')
      await k.ok(
        'create pdb steady --selector=app=web --min-available=1',
        'poddisruptionbudget.policy/steady created\n',
      )
    }
    await k.ok('create ingress front --rule=shop.example/*=web:80', 'ingress.networking.k8s.io/front created\n')
    await k.ok('get ingress front --no-headers', /^front +<none> +shop\.example +80 +\d+s\n$/)
  },

  'create creates roles and bindings from flags': async (k) => {
    const name = `reader-${k.namespace}`
    await k.ok(
      'create role reader --verb=get,list --resource=pods,deployments.apps',
      'role.rbac.authorization.k8s.io/reader created\n',
    )
    await k.ok(
      'get role reader -o jsonpath={.rules[*].apiGroups}{.rules[*].resources}',
      '[""] ["apps"]["pods"] ["deployments"]',
    )
    await k.ok(
      'create rolebinding readers --role=reader --serviceaccount=default:robot --user=jane',
      'rolebinding.rbac.authorization.k8s.io/readers created\n',
    )
    await k.ok(
      `create clusterrole ${name} --verb=get --resource=nodes`,
      `clusterrole.rbac.authorization.k8s.io/${name} created\n`,
    )
    await k.ok(
      `create clusterrolebinding ${name} --clusterrole=${name} --group=readers`,
      `clusterrolebinding.rbac.authorization.k8s.io/${name} created\n`,
    )
    await k.ok('get rolebinding readers -o wide --no-headers', /^readers +Role\/reader +\d+s +jane +default\/robot\n$/)
  },

  'create rejects invalid objects': async (k) => {
    await k.ok('create configmap settings', 'configmap/settings created\n')
    await k.fails('create configmap settings', /configmaps "settings" already exists\n$/)
    await k.fails('create -f - -n nowhere', /namespaces "nowhere" not found\n$/, { input: configMap('x', {}) })
    await k.fails(
      'create configmap UPPER',
      /metadata\.name: Invalid value: "UPPER": a lowercase RFC 1123 subdomain must consist of/,
    )
    await k.fails('create -f -', /spec\.containers: Required value|missing required field "containers"/, {
      input: 'apiVersion: v1\nkind: Pod\nmetadata: { name: x }\nspec: {}\n',
    })
    await k.fails('create -f - --validate=false', /^The Pod "x" is invalid: spec\.containers: Required value\n$/, {
      input: 'apiVersion: v1\nkind: Pod\nmetadata: { name: x }\nspec: {}\n',
    })
    const typo = deployment('typo').replace('replicas:', 'replica:')
    await k.fails('create -f -', /unknown field "(spec\.)?replica"/, { input: typo })
    if (k.program.minor >= 25) {
      await k.fails('create --validate=strict -f -', /strict decoding error: unknown field "spec\.replica"\n$/, {
        input: typo,
      })
      const warned = await k.run('create --validate=warn -f -', { input: typo })
      assert.deepEqual(warned, {
        code: 0,
        stdout: 'deployment.apps/typo created\n',
        stderr: 'Warning: unknown field "spec.replica"\n',
      })
    }
    await k.ok('create --validate=false -f - --dry-run=server', 'deployment.apps/typo2 created (server dry run)\n', {
      input: typo.replaceAll('typo', 'typo2'),
    })
  },

  'dry runs change nothing': async (k) => {
    await k.ok('create configmap dry --dry-run=client', 'configmap/dry created (dry run)\n')
    await k.ok('create configmap dry --dry-run=server', 'configmap/dry created (server dry run)\n')
    assert.match(
      await k.ok('create configmap dry --from-literal=a=b --dry-run=client -o yaml'),
      /^apiVersion: v1\ndata:\n {2}a: b\nkind: ConfigMap\nmetadata:\n/,
    )
    assert.match(
      await k.ok('create -f - --dry-run=server -o yaml', undefined, { input: deployment('dry') }),
      /\n {2}progressDeadlineSeconds: 600\n/,
    )
    await k.fails('get configmap dry', 'Error from server (NotFound): configmaps "dry" not found\n')
    await k.ok('get configmaps,deployments -o name', '')
  },

  'generateName generates names': async (k) => {
    const input = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { generateName: run- }\n'
    assert.match(await k.ok('create -f - -o name', undefined, { input }), /^configmap\/run-[a-z0-9]{5}\n$/)
  },

  'a raw post creates an object': async (k) => {
    const path = apiPath(k, 'v1', 'configmaps')
    assert.equal(
      JSON.parse(
        await k.ok(`create --raw ${path} -f -`, undefined, { input: '{"metadata":{"name":"raw"},"data":{"a":"b"}}' }),
      ).data.a,
      'b',
    )
  },
}
