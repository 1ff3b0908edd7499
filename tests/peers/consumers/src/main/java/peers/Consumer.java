package peers;

/** Somebody else's software that reads messages. */
interface Consumer {
    /**
     * What the consumer makes of a message, as something that Jackson can write.
     *
     * @throws Exception the consumer's own refusal
     */
    Object take(Request request) throws Exception;
}
