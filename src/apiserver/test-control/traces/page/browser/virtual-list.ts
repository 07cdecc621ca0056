/** A list of any length, of which only the visible rows are in the document. Arrow keys move the selection. */
import { element } from './element.ts'

export interface ListOptions {
  readonly label: string
  readonly rowHeight: number
  /** Called when the user selects a row. */
  readonly select: (index: number) => void
}

/** Rows above and below the visible ones. */
const margin = 12

export class VirtualList {
  readonly root: HTMLElement
  readonly #options: ListOptions
  readonly #body: HTMLElement
  #rows: readonly (() => HTMLElement)[] = []
  #selected = -1

  constructor(options: ListOptions) {
    this.#options = options
    this.#body = element('div', { class: 'rows', role: 'presentation' })
    this.root = element('div', { class: 'list', role: 'listbox', tabindex: 0, 'aria-label': options.label }, this.#body)
    this.root.addEventListener('scroll', () => this.#draw(), { passive: true })
    this.root.addEventListener('keydown', (event) => this.#key(event))
    this.root.addEventListener('click', (event) => this.#click(event))
    new ResizeObserver(() => this.#draw()).observe(this.root)
  }

  /** Replaces all rows. `selected` is -1 for none. */
  show(rows: readonly (() => HTMLElement)[], selected: number): void {
    this.#rows = rows
    this.#body.style.height = `${rows.length * this.#options.rowHeight}px`
    this.select(selected)
  }

  /** Marks a row, and scrolls to it if it is not visible. */
  select(index: number): void {
    this.#selected = index
    const { rowHeight } = this.#options
    const { scrollTop, clientHeight } = this.root
    const top = index * rowHeight
    if (index >= 0 && (top < scrollTop || top + rowHeight > scrollTop + clientHeight))
      this.root.scrollTop = Math.max(0, top - clientHeight / 2)
    this.#draw()
  }

  #draw(): void {
    const { rowHeight } = this.#options
    const { scrollTop, clientHeight } = this.root
    const first = Math.max(0, Math.floor(scrollTop / rowHeight) - margin)
    const last = Math.min(this.#rows.length, Math.ceil((scrollTop + clientHeight) / rowHeight) + margin)
    const rows = this.#rows.slice(first, last).map((make, i) => this.#row(make(), first + i))
    this.#body.replaceChildren(...rows)
    if (this.#selected >= first && this.#selected < last)
      this.root.setAttribute('aria-activedescendant', this.#idOf(this.#selected))
    else this.root.removeAttribute('aria-activedescendant')
  }

  #row(row: HTMLElement, index: number): HTMLElement {
    row.id = this.#idOf(index)
    row.dataset.index = `${index}`
    row.setAttribute('role', 'option')
    row.setAttribute('aria-selected', `${index === this.#selected}`)
    row.setAttribute('aria-posinset', `${index + 1}`)
    row.setAttribute('aria-setsize', `${this.#rows.length}`)
    row.style.top = `${index * this.#options.rowHeight}px`
    return row
  }

  #idOf(index: number): string {
    return `${this.#options.label.replace(/\W/g, '-')}-${index}`
  }

  #click({ target }: Event): void {
    const row = target instanceof Element ? target.closest<HTMLElement>('[data-index]') : null
    if (row) this.#options.select(Number(row.dataset.index))
  }

  #key(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor(this.root.clientHeight / this.#options.rowHeight) - 1)
    const steps: Readonly<Record<string, number>> = {
      ...{ ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page },
      ...{ Home: -this.#rows.length, End: this.#rows.length },
    }
    const step = steps[event.key]
    if (step === undefined || this.#rows.length === 0) return
    event.preventDefault()
    this.#options.select(Math.min(this.#rows.length - 1, Math.max(0, this.#selected + step)))
  }
}
