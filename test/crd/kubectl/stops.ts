/** Commands of kubectl for definitions and custom resources, each test in a namespace and an API group of its own. */
import assert from 'node:assert/strict'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Stops } from '../../clients/kubectl/stop.ts'
import type { Kubectl } from '../../support/kubectl.ts'
import type { ReachableCluster } from '../../support/reachable-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { definition, groupOf, pluralOf, widget } from './widgets.ts'

/** Makes the definition and waits until it is served, past kubectl: that is quicker. */
async function define(k: Kubectl, cluster: ReachableCluster): Promise<void> {
  await cluster.call(
    'POST',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    definition(k),
    'application/yaml',
  )
  await waitFor('widgets are served', () => cluster.call('GET', collection(k)))
}

const collection = (k: Kubectl): string => `/apis/${groupOf(k)}/v1/namespaces/${k.namespace}/${pluralOf(k)}`

const make = (k: Kubectl, cluster: ReachableCluster, ...manifests: readonly string[]): Promise<unknown> =>
  Promise.all(manifests.map((manifest) => cluster.call('POST', collection(k), manifest, 'application/yaml')))

export const customStops: Stops = {
  'a definition is applied, waited for, used and deleted': async (k) => {
    const name = `customresourcedefinition.apiextensions.k8s.io/${pluralOf(k)}.${groupOf(k)}`
    await k.ok('apply -f -', `${name} created\n`, { input: definition(k) })
    await k.ok(
      `wait --for=condition=Established crd/${pluralOf(k)}.${groupOf(k)} --timeout=20s`,
      `${name} condition met\n`,
    )
    await k.ok('apply -f -', `${name} unchanged\nwidget.${groupOf(k)}/a created\n`, {
      input: `${definition(k)}---\n${widget(k, 'a')}`,
    })
    await k.ok('apply -f -', `widget.${groupOf(k)}/a unchanged\n`, { input: widget(k, 'a') })
    await k.ok('apply -f -', `widget.${groupOf(k)}/a configured\n`, { input: widget(k, 'a', 'color: blue') })
    await k.ok(`get crd ${pluralOf(k)}.${groupOf(k)}`, /^NAME +CREATED AT\nwidgets\d\.stop-\d+\.example\.com +\d{4}-/)
    await k.ok(`describe crd ${pluralOf(k)}.${groupOf(k)}`, /Type: +Established/)
    await k.ok(`delete crd ${pluralOf(k)}.${groupOf(k)}`, /deleted/)
    await k.fails(
      `get ${pluralOf(k)}`,
      /the server (doesn't have a resource type|could not find the requested resource)/,
    )
  },

  'objects are listed by their names, in columns': async (k, cluster) => {
    await define(k, cluster)
    await make(
      k,
      cluster,
      widget(k, 'a', 'color: red, ports: [{ name: http }, { name: dns }]'),
      widget(k, 'b', 'color: blue, replicas: 3'),
    )
    const full = `${pluralOf(k)}.${groupOf(k)}`
    await k.ok(`get ${full}`, /^NAME +COLOR +REPLICAS +AGE\na +red +1 +\d+s\nb +blue +3 +\d+s\n$/)
    await k.ok(`get ${full} -o wide`, /^NAME +COLOR +REPLICAS +PORTS +AGE\na +red +1 +http +\d+s\nb +blue +3 +\d+s\n$/)
    await k.ok(`get ${k.namespace}-w -o name`, `widget.${groupOf(k)}/a\nwidget.${groupOf(k)}/b\n`)
    await k.ok(`get ${k.namespace}-all -o name`, `widget.${groupOf(k)}/a\nwidget.${groupOf(k)}/b\n`)
    await k.ok(`get widget.v1.${groupOf(k)} b -o name`, `widget.${groupOf(k)}/b\n`)
    await k.ok(`get ${full} --field-selector spec.color=blue -o name`, `widget.${groupOf(k)}/b\n`)
    await k.ok(`get ${full} --field-selector spec.color!=blue -o name`, `widget.${groupOf(k)}/a\n`)
    await k.fails(`get ${full} --field-selector spec.replicas=1`, /field label not supported: spec\.replicas/)
    await k.ok(`get ${full} -l app=a -o jsonpath={.items[*].metadata.name}`, 'a')
    await k.ok(`get ${full} --sort-by=.spec.replicas -o custom-columns=N:.metadata.name --no-headers`, 'a\nb\n')
    await k.ok(`describe ${full} a`, /Kind: +Widget[\s\S]*Color: +red[\s\S]*Events: +<none>/)
    await k.ok(
      `api-resources --no-headers --api-group ${groupOf(k)}`,
      new RegExp(`^${pluralOf(k)} +${k.namespace}-w +${groupOf(k)}/v1 +true +Widget\\s*$`),
    )
  },

  'explain reads the schema': async (k, cluster) => {
    await define(k, cluster)
    const full = pluralOf(k)
    assert.match(
      await k.ok(`explain ${full}`),
      /KIND: +Widget[\s\S]*A widget is a thing that is made in numbers\.[\s\S]*spec\t<[Oo]bject> -required-/,
    )
    assert.match(await k.ok(`explain ${full}.spec.color`), /color\s+<string>[\s\S]*What it looks like\./)
    const all = await k.ok(`explain ${full} --recursive`)
    assert.match(all, /\n +spec\t<[Oo]bject>.*\n[\s\S]*\n +ports\t<\[\][Oo]bject>.*\n +name\t<string>/)
    assert.match(all, /\n +metadata\t<(ObjectMeta|Object)>.*\n[\s\S]*\n +ownerReferences\t/)
    await k.fails(`explain ${full}.spec.nothing`, /field "nothing" does not exist/)
  },

  'objects are patched, edited, labelled and scaled': async (k, cluster) => {
    await define(k, cluster)
    const one = `${pluralOf(k)}.${groupOf(k)} a`
    await make(k, cluster, widget(k, 'a', 'color: red, ports: [{ name: http, number: 1 }]'))
    await k.ok(
      `patch ${one} --type=merge -p '{"spec":{"color":"green","settings":{"a":"b"}}}'`,
      `widget.${groupOf(k)}/a patched\n`,
    )
    await k.ok(
      `patch ${one} --type=json -p '[{"op":"replace","path":"/spec/ports/0/number","value":2}]'`,
      `widget.${groupOf(k)}/a patched\n`,
    )
    await k.ok(`get ${one} -o jsonpath={.spec.color},{.spec.ports[0].number},{.metadata.generation}`, 'green,2,3')
    await k.fails(
      `patch ${one} -p '{"spec":{"color":"blue"}}'`,
      /the body of the request was in an unknown format|UnsupportedMediaType|415/i,
    )
    await k.fails(
      `patch ${one} --type=merge -p '{"spec":{"color":"pink"}}'`,
      /spec\.color: Unsupported value: "pink": supported values: "red", "green", "blue"/,
    )
    await k.fails(
      `patch ${one} --type=merge -p '{"spec":{"replicas":11}}'`,
      /spec\.replicas: Invalid value: 11: spec\.replicas in body should be less than or equal to 10/,
    )
    await k.ok(`label ${one} tier=front`, `widget.${groupOf(k)}/a labeled\n`)
    await k.ok(`annotate ${one} note=yes`, /annotate/)
    await k.ok(`scale ${one} --replicas=4`, `widget.${groupOf(k)}/a scaled\n`)
    await k.ok(`get ${one} -o jsonpath={.spec.replicas}`, '4')
    await k.fails(`scale ${one} --replicas=11`, /spec\.replicas/)
    const editor = join(cluster.folder, `edit-${k.namespace}`)
    writeFileSync(editor, `#!/bin/sh\nexec sed -i 's/color: green/color: blue/' "$1"\n`)
    chmodSync(editor, 0o755)
    await k.ok(`edit ${one}`, `widget.${groupOf(k)}/a edited\n`, { env: { KUBE_EDITOR: editor } })
    await k.ok(`get ${one} -o jsonpath={.spec.color}`, 'blue')
  },

  'server-side apply merges by the list types of the schema': async (k, cluster) => {
    await define(k, cluster)
    const one = `${pluralOf(k)}.${groupOf(k)} a`
    const apply = (manager: string, more = ''): string => `apply --server-side --field-manager=${manager} ${more} -f -`
    const done = `widget.${groupOf(k)}/a serverside-applied\n`
    await k.ok(apply('one'), done, {
      input: widget(k, 'a', 'color: red, ports: [{ name: http, number: 1 }], tags: [p], order: [p]'),
    })
    await k.ok(apply('two'), done, { input: widget(k, 'a', 'color: red, ports: [{ name: dns }], tags: [q]') })
    await k.ok(`get ${one} -o jsonpath={.spec.ports[*].name},{.spec.tags}`, 'http dns,["p","q"]')
    await k.fails(apply('two'), /conflict with "one": \.spec\.order/, {
      input: widget(k, 'a', 'color: red, ports: [{ name: dns }], tags: [q], order: [q]'),
    })
    await k.fails(apply('two'), /conflict with "one": \.spec\.ports\[name="http"\]\.number/, {
      input: widget(k, 'a', 'color: red, ports: [{ name: http, number: 2 }]'),
    })
    await k.ok(apply('two', '--force-conflicts'), done, {
      input: widget(k, 'a', 'color: red, ports: [{ name: http, number: 2 }]'),
    })
    await k.ok(`get ${one} -o jsonpath={.spec.ports},{.spec.tags}`, '[{"name":"http","number":2}],["p"]')
    await k.fails(apply('two'), /duplicate entries for key \[name="http"\]/, {
      input: widget(k, 'a', 'color: red, ports: [{ name: http }, { name: http }]'),
    })
  },

  'unknown fields are refused, warned of or dropped': async (k, cluster) => {
    await define(k, cluster)
    const input = widget(k, 'a', 'color: red, colour: blue, free: { any: 1 }')
    // Older ones ask for no validation by the server.
    if (k.program.minor < 27) return
    await k.fails('create -f -', /strict decoding error: unknown field "spec\.colour"/, { input })
    const warned = await k.run('create --validate=warn -f -', { input })
    assert.match(warned.stderr, /^Warning: unknown field "spec\.colour"\n/)
    assert.equal(warned.stdout, `widget.${groupOf(k)}/a created\n`)
    await k.ok(
      `get ${pluralOf(k)}.${groupOf(k)} a -o jsonpath={.spec}`,
      '{"color":"red","free":{"any":1},"replicas":1}',
    )
    assert.equal((await k.run('apply --validate=false -f -', { input })).code, 0)
  },

  'wait sees conditions and fields, and deletion waits for finalizers': async (k, cluster) => {
    await define(k, cluster)
    const full = `${pluralOf(k)}.${groupOf(k)}`
    await make(k, cluster, widget(k, 'a').replace('metadata: {', 'metadata: { finalizers: [example.com/held],'))
    await cluster.call(
      'PATCH',
      `${collection(k)}/a/status`,
      { status: { phase: 'Ready' }, spec: { color: 'blue' } },
      'application/merge-patch+json',
    )
    await k.ok(
      `wait --for=jsonpath={.status.phase}=Ready ${full}/a --timeout=20s`,
      `widget.${groupOf(k)}/a condition met\n`,
    )
    await k.ok(`get ${full} a -o jsonpath={.spec.color}`, 'red')
    await k.ok(`delete ${full} a --wait=false`, /deleted/)
    await k.fails('create -f -', /object is being deleted/, { input: widget(k, 'a') })
    const deletion = await k.watching(`wait --for=delete ${full}/a --timeout=30s`)
    await cluster.call(
      'PATCH',
      `${collection(k)}/a`,
      { metadata: { finalizers: null } },
      'application/merge-patch+json',
    )
    await deletion.waiting(`widget.${groupOf(k)}/a condition met\n`)
  },
}
