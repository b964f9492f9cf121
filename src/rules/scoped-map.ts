/**
 * Values by business and key. It consists of nested maps, because composing one key of both for each lookup costs more
 * than the lookup.
 */
export class ScopedMap<Value> {
  readonly #businesses = new Map<string, Map<string, Value>>()

  get(businessId: string, key: string): Value | undefined {
    return this.#businesses.get(businessId)?.get(key)
  }

  has(businessId: string, key: string): boolean {
    return this.#businesses.get(businessId)?.has(key) ?? false
  }

  set(businessId: string, key: string, value: Value): void {
    const values = this.#businesses.get(businessId)
    if (values) values.set(key, value)
    else this.#businesses.set(businessId, new Map([[key, value]]))
  }

  delete(businessId: string, key: string): void {
    const values = this.#businesses.get(businessId)
    values?.delete(key)
    if (values?.size === 0) this.#businesses.delete(businessId)
  }

  get isEmpty(): boolean {
    return this.#businesses.size === 0
  }
}
