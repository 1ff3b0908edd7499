package peers;

import java.util.List;
import java.util.Map;

/** A format of another project that reads messages. */
interface Format {
    /**
     * The changes that the format makes of a message.
     *
     * @throws Exception the format's own error
     */
    List<Change> changes(Request request) throws Exception;

    /** A row of the changelog; {@code kind} is one of +I, -U, +U, -D. */
    record Change(String kind, Map<String, Object> row) {}
}
