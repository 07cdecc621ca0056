/** Property names of Object.prototype, as kubectl sends and prints them. */
import { configMap } from './manifests.ts'
import type { Stops } from './stop.ts'

const data = (value: string): string =>
  `{"__proto__":"${value}","constructor":"${value}","hasOwnProperty":"${value}","toString":"${value}"}`
const settings = (value: string): string =>
  configMap('settings', {}, { app: 'a' }).replace('data: {}', `data: ${data(value)}`)
const literals = (value: string): string =>
  Object.keys(JSON.parse(data(value)) as object)
    .map((key) => `--from-literal=${key}=${value}`)
    .join(' ')

export const nameStops: Stops = {
  'keys are called __proto__, constructor and toString': async (k) => {
    await k.ok('apply -f -', 'configmap/settings created\n', { input: settings('1') })
    await k.ok('apply -f -', 'configmap/settings unchanged\n', { input: settings('1') })
    await k.ok('apply -f -', 'configmap/settings configured\n', { input: settings('2') })
    await k.ok('get cm settings -o jsonpath={.data}', data('2'))
    await k.ok('diff -f -', '', { input: settings('2') })
    await k.ok('get cm settings', /^NAME +DATA +AGE\nsettings +4 /)
    // It prints keys in any order.
    await k.ok('describe cm settings', /\n__proto__:\n----\n2\n/)
    await k.ok(
      `patch cm settings --type=merge -p '{"data":{"__proto__":null,"valueOf":"3"}}'`,
      'configmap/settings patched\n',
    )
    await k.ok(`patch cm settings -p '{"data":{"constructor":null,"__proto__":"3"}}'`, 'configmap/settings patched\n')
    await k.ok(
      'patch cm settings --type=json -p ' +
        '\'[{"op":"remove","path":"/data/toString"},{"op":"copy","from":"/data/__proto__","path":"/data/toJSON"}]\'',
    )
    await k.ok(
      'get cm settings -o jsonpath={.data}',
      '{"__proto__":"3","hasOwnProperty":"2","toJSON":"3","valueOf":"3"}',
    )
    await k.ok('apply --server-side --force-conflicts -f -', 'configmap/settings serverside-applied\n', {
      input: settings('4'),
    })
    await k.ok('get cm settings -o jsonpath={.data.__proto__}', '4')
    await k.ok(`create configmap more ${literals('1')}`, 'configmap/more created\n')
    await k.ok(`create secret generic more ${literals('1')}`, 'secret/more created\n')
    await k.ok('get secret more -o jsonpath={.data}', data('MQ=='))
  },

  'labels, objects and namespaces are called constructor': async (k, cluster) => {
    await k.ok('create configmap constructor', 'configmap/constructor created\n')
    await k.ok('get cm -l constructor', '')
    await k.ok('label cm constructor constructor=1 toString=2', 'configmap/constructor labeled\n')
    await k.ok('annotate cm constructor example.com/constructor=x valueOf=y', /^configmap\/constructor annotated?\n/)
    await k.ok('get cm -l constructor=1,toString,!valueOf -o name', 'configmap/constructor\n')
    await k.ok('get cm constructor -L constructor,valueOf', /CONSTRUCTOR +VALUEOF\nconstructor +0 +\S+ +1 +\n$/)
    await k.ok('label cm constructor constructor-', /configmap\/constructor (unlabeled|labeled)\n/)
    await k.fails(
      `patch cm constructor --type=merge -p '{"metadata":{"labels":{"__proto__":"x"}}}'`,
      /metadata\.labels: Invalid value: "__proto__"/,
    )
    await k.ok('delete cm constructor', /^configmap "constructor" deleted/)
    await k.ok('create namespace constructor', 'namespace/constructor created\n')
    await k.ok('get cm,secrets -n constructor -o name', '')
    await cluster.call('DELETE', '/api/v1/namespaces/constructor')
  },
}
