/**
 * A definition that shows most of what definitions can say, and objects of it. Each stop of a tour has a group of its
 * own.
 */
import type { Kubectl } from '../../support/kubectl.ts'

/** Namespaces are the stops' own, groups too: `stop-1.example.com`. */
export const groupOf = (k: Kubectl): string => `${k.namespace}.example.com`

/** Plurals are the stops' own too: `kubectl explain` takes no groups. */
export const pluralOf = (k: Kubectl): string => k.namespace.replace('stop-', 'widgets')

/** The schema of widgets, indented for the definition. */
const schema = `        description: A widget is a thing that is made in numbers.
        type: object
        required: [spec]
        properties:
          spec:
            description: What is wanted.
            type: object
            required: [color]
            properties:
              color: { description: What it looks like., type: string, enum: [red, green, blue], default: red }
              replicas: { type: integer, minimum: 0, maximum: 10, default: 1 }
              ports:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties: { name: { type: string }, number: { type: integer } }
              tags: { type: array, x-kubernetes-list-type: set, items: { type: string } }
              order: { type: array, items: { type: string } }
              settings: { type: object, additionalProperties: { type: string } }
              free: { type: object, x-kubernetes-preserve-unknown-fields: true }
          status:
            type: object
            properties:
              replicas: { type: integer }
              selector: { type: string }
              phase: { type: string }`

/** Widgets: short name `NAMESPACE-w` and category `NAMESPACE-all`, as both are shared by all groups. */
export const definition = (k: Kubectl): string => `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: ${pluralOf(k)}.${groupOf(k)} }
spec:
  group: ${groupOf(k)}
  scope: Namespaced
  names:
    plural: ${pluralOf(k)}
    singular: widget
    kind: Widget
    shortNames: [${k.namespace}-w]
    categories: [${k.namespace}-all]
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale:
        specReplicasPath: .spec.replicas
        statusReplicasPath: .status.replicas
        labelSelectorPath: .status.selector
    additionalPrinterColumns:
    - { name: Color, type: string, jsonPath: .spec.color }
    - { name: Replicas, type: integer, jsonPath: .spec.replicas }
    - { name: Ports, type: string, jsonPath: '.spec.ports[*].name', priority: 1 }
    - { name: Age, type: date, jsonPath: .metadata.creationTimestamp }
    selectableFields:
    - { jsonPath: .spec.color }
    schema:
      openAPIV3Schema:
${schema}
`

/** A widget; `spec` in YAML's short form, without its braces. */
export const widget = (k: Kubectl, name: string, spec = 'color: red'): string => `apiVersion: ${groupOf(k)}/v1
kind: Widget
metadata: { name: ${name}, labels: { app: ${name} } }
spec: { ${spec} }
`
